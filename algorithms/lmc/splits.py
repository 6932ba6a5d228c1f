"""A problem's images, and what frozen modules give for them, which is computed once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bell_bench import Inputs, Split
from bell_bench_algorithms.lmc.network import Network


def maps(inputs: Inputs, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the unique images as (images, channels, side, side), channels last in memory, and
    which of them form each input. Vectors stay as they are."""
    x, members = inputs.tensors(device)
    if x.dim() == 3:
        x = x.unsqueeze(-1)
    return x.permute(0, 3, 1, 2) if x.dim() == 4 else x, members


@dataclass
class Fixed:
    """A batch of images that stays the same, so that the frozen layers below the first new module
    compute their output once."""

    x: Tensor
    known: Tensor | None
    depth: int = 0
    output: Tensor | None = None

    def ready(self, network: Network) -> bool:
        """Whether ``enter`` has nothing left to compute."""
        return network.frozen in (0, self.depth)

    def enter(self, network: Network) -> tuple[Tensor, Tensor | None, int]:
        """Return where a pass can begin: its input, the errors known there, the layer."""
        depth = network.frozen
        if depth == 0:
            return self.x, self.known, 0
        if not self.ready(network):
            self.output = network.evaluate(self.x, self.known, end=depth).output
            self.depth = depth
        assert self.output is not None
        return self.output, None, depth


class ImageBatch(NamedTuple):
    """Some inputs of a training set, and their labels."""

    items: Tensor
    """The numbers of the images that the inputs show, each once."""
    members: Tensor
    """(inputs, arity): which of ``items`` form each input."""
    labels: Tensor


class ImageSplit:
    """The unique images of a split, and the first layer's errors for them.

    What comes into the first layer does not depend on the batch, so neither do these errors.
    """

    def __init__(self, split: Split, network: Network, batch: int, device: torch.device) -> None:
        self.x, self.members = maps(split, device)
        self.batch = batch
        self.known: Tensor | None = None
        if network.layers and network.layers[0].learnt:
            first = network.layers[0]
            self.known = torch.cat([first.examine(part).errors for part in self.x.split(batch)])

    def batches(self, labels: Tensor, seed: int) -> Iterator[ImageBatch]:
        """Yield batches without end. Each epoch is a random order of all inputs; its last batch may
        be smaller."""
        random = np.random.RandomState(seed)
        while True:
            order = torch.from_numpy(random.permutation(len(self.members))).to(self.x.device)
            for chosen in order.split(self.batch):
                items, members = torch.unique(self.members[chosen], return_inverse=True)
                yield ImageBatch(items, members, labels[chosen])

    def take(self, items: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return some images and, if known, the first layer's errors for them."""
        chosen = self.x[items].contiguous(memory_format=_format(self.x))
        return chosen, None if self.known is None else self.known[items]

    def fixed(self) -> list[Fixed]:
        """Return all images in their order, in batches."""
        slices = [slice(a, a + self.batch) for a in range(0, len(self.x), self.batch)]
        return [
            Fixed(self.x[part], None if self.known is None else self.known[part]) for part in slices
        ]


def _format(x: Tensor) -> torch.memory_format:
    return torch.channels_last if x.dim() == 4 else torch.contiguous_format
