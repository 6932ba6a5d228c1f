"""A kind of module of one's own: units that say how near a point is to each of their centres."""

import math

import torch

from bell_bench import Block


class Near(Block):
    """One minus the mean squared distance to a centre, for each of some centres."""

    def init(self, spec, generator, dtype=torch.float32):
        shape = (math.prod(spec.source.shape), math.prod(spec.target.shape))
        return {"centres": torch.randn(shape, generator=generator, dtype=dtype)}

    def apply(self, spec, weights, x, training=False):
        centres, points = weights["centres"], x.flatten(1)
        squares = (points * points).sum(1, keepdim=True) + (centres * centres).sum(0)
        return 1 - (squares - 2 * points @ centres) / len(centres)
