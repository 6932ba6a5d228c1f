"""Embedded stand-ins, bit-identical on every machine.

As in ``bell_bench_drawn.glyphs``: only numpy's frozen ``RandomState.random_sample`` and single
additions, multiplications, divisions, comparisons and square roots, which IEEE 754 rounds alike
everywhere. No sin, exp, power, matrix product or floating-point sum over an axis.
"""

from __future__ import annotations

import numpy as np

from bell_bench.data.colour.domain import SIDE, SPLITS, Pixels
from bell_bench_drawn.colour import digits, garments, objects, textures

VERSION = 2
"""Part of every cache key; changes when any pixel does."""
BLOCK = 64
"""Images drawn from one seed."""

_ARTISTS = {
    "cifar10": objects.draw_ten,
    "cifar100": objects.draw_hundred,
    "svhn": digits.draw_in_clutter,
    "dtd": textures.draw,
    "mnist": digits.draw_plain,
    "fashion_mnist": garments.draw,
}
_SEEDS = {name: 100 + place for place, name in enumerate(_ARTISTS)}


def draw(name: str, label: int, split: str, count: int) -> Pixels:
    """The first ``count`` images (n, 32, 32, 3) of a class in a split."""
    images = np.empty((count, SIDE, SIDE, 3), dtype=np.uint8)
    for start in range(0, count, BLOCK):
        seed = [_SEEDS[name], label, SPLITS.index(split), start // BLOCK]
        block = _ARTISTS[name](np.random.RandomState(seed), label, BLOCK)
        images[start : start + BLOCK] = block[: count - start]
    return images
