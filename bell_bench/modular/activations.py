"""What each layer of a network receives on some inputs, as modules are added from the first on."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from bell_bench.modular.architecture import Architecture
from bell_bench.modular.kind import Weights
from bell_bench.modular.network import IMAGES, ROWS, in_chunks, move, run_modules
from bell_bench.problem import Inputs

ROOM = 256 * 1024**2
"""How many bytes of one layer's activations are kept; larger ones are computed again when needed.

It is a constant so that every machine computes the same in the same way.
"""


class Activations:
    """What the next layer of a network receives on some inputs, after the modules added so far.

    It begins with the images. ``extend`` adds a module, and only that module is computed. Below the
    layer that joins the images of an input there is one row per unique image; from that layer on
    there is one row per input.
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
        """The layer that receives this: as many modules have been added."""
        self._device = device
        self._room = room
        self._kept, self._index = inputs.tensors(device)
        self._above: dict[int, Weights] = {}
        """The modules between the layer whose activations are kept and ``layer``."""
        self._settle()

    def extend(self, weights: Weights) -> None:
        """Add the module of the next layer."""
        self._above |= move({self.layer: weights}, self._device, torch.float32)
        self.layer += 1
        self._settle()

    @property
    def width(self) -> int:
        """How many numbers the layer receives for one of its inputs."""
        spec = self.architecture[self.layer]
        return spec.join * math.prod(spec.source.shape)

    @property
    def counts(self) -> Tensor:
        """How often each row occurs: an image occurs as often as inputs show it."""
        if self._joined:
            return torch.ones(len(self._index))
        return torch.bincount(self._index.flatten(), minlength=len(self._kept))

    def through(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Return ``function`` of all rows, computed for a bounded number of rows at a time.

        Results go into one tensor. Small results kept apart would lie between the large inputs in
        memory, and the gaps that these leave would add up to the size of all inputs.
        """
        return in_chunks(lambda x: function(self._through(x)), self._kept, self._chunk)

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Return what the layer receives for at most ``count`` inputs, drawn without replacement.

        Below the layer that joins images, an input has a row per image: (inputs, arity, …).
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
        return run_modules(self.architecture, self._above, x, layers)

    def _settle(self) -> None:
        """Keep what the layer receives if there is room, and always where images are joined."""
        joins = self.layer == self.architecture.joint
        if self._above:
            target = self.architecture[self.layer - 1].target
            size = len(self._kept) * math.prod(target.shape) * self._kept.element_size()
            if joins or size <= self._room:
                self._kept = in_chunks(self._through, self._kept, self._chunk)
                self._above = {}
        if joins:
            self._kept = self._kept[self._index]
