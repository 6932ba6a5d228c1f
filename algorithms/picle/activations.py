"""What each layer of a growing prefix of modules receives on a problem's training inputs."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from bell_bench.modular.architecture import Architecture
from bell_bench.modular.blocks import Weights
from bell_bench.modular.network import IMAGES, ROWS, in_chunks, move, pixels, rows, run
from bell_bench.problem import Inputs

ROOM = 256 * 1024**2
"""Bytes of one layer's activations that are kept; larger ones are computed again when wanted.

A constant, so that the same is computed in the same way on every machine.
"""


class Activations:
    """The inputs of layer ``layer``: one per unique image below the join, one per input from it on.

    A prefix is extended by one module at a time, from what the layers below have computed.
    """

    def __init__(
        self,
        architecture: Architecture,
        inputs: Inputs,
        device: torch.device,
        room: int = ROOM,
    ) -> None:
        self.architecture = architecture
        self.layer = 0
        self._device = device
        self._room = room
        self._index = rows(inputs, device)
        self._kept = pixels(inputs, device, torch.float32)
        self._above: dict[int, Weights] = {}
        """The modules between what is kept and ``layer``."""
        self._settle()

    def extend(self, weights: Weights) -> None:
        """Put one more module on top."""
        self._above |= move({self.layer: weights}, self._device, torch.float32)
        self.layer += 1
        self._settle()

    @property
    def width(self) -> int:
        """How many numbers the layer receives at once."""
        spec = self.architecture[self.layer]
        return spec.join * math.prod(spec.source.shape)

    @property
    def counts(self) -> Tensor:
        """How often the layer receives each of its inputs: an image as often as it is shown."""
        if self._joined:
            return torch.ones(len(self._index))
        return torch.bincount(self._index.flatten(), minlength=len(self._kept))

    def through(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """``function`` of the layer's inputs, a bounded number at a time.

        Into one tensor: small results kept apart would lie between the large inputs in memory, and
        the gaps that these leave would add up to all of them.
        """
        return in_chunks(lambda x: function(self._through(x)), self._kept, self._chunk)

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """What the layer receives for at most ``count`` inputs, drawn without replacement.

        Below the join, all images of an input: (inputs, arity, …).
        """
        drawn = torch.randperm(len(self._index), generator=generator)[:count].to(self._device)
        if self._joined:
            return self._through(self._kept[drawn])
        images = self._index[drawn]
        found = self._through(self._kept[images.flatten()])
        return found.view(*images.shape, *found.shape[1:])

    @property
    def _joined(self) -> bool:
        return self.layer >= self.architecture.joint

    @property
    def _chunk(self) -> int:
        return ROWS if self.layer - len(self._above) >= self.architecture.joint else IMAGES

    @torch.no_grad()
    def _through(self, x: Tensor) -> Tensor:
        layers = range(self.layer - len(self._above), self.layer)
        return run(self.architecture, self._above, x, layers)

    def _settle(self) -> None:
        """Keep what the layer receives if there is room; at the join, always, and joined."""
        joins = self.layer == self.architecture.joint
        if self._above:
            target = self.architecture[self.layer - 1].target
            size = len(self._kept) * math.prod(target.shape) * self._kept.element_size()
            if joins or size <= self._room:
                self._kept = in_chunks(self._through, self._kept, self._chunk)
                self._above = {}
        if joins:
            self._kept = self._kept[self._index]
