"""The layers of a problem's network above the convolutional ones; each problem has its own."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from bell_bench import Architecture, Weights, new_weights, run_modules


class Head:
    """The rest of a problem's network: a linear layer on CTrL, six fully connected ones on BELL."""

    def __init__(self, architecture: Architecture, start: int, weights: dict[int, Weights]) -> None:
        self.architecture, self.start, self.weights = architecture, start, weights

    @staticmethod
    def drawn(architecture: Architecture, start: int, generator: torch.Generator) -> Head:
        """Return a head with random weights, drawn as those of the suite's new modules."""
        weights = {
            layer: new_weights(architecture[layer], generator)
            for layer in range(start, len(architecture))
        }
        return Head(architecture, start, weights)

    def copy(self, device: torch.device | None = None, trained: bool = True) -> Head:
        """Return a copy of the head; with ``trained``, its weights take gradients."""
        weights = {
            layer: {
                name: tensor.detach().to(device, copy=True).requires_grad_(trained)
                for name, tensor in module.items()
            }
            for layer, module in self.weights.items()
        }
        return Head(self.architecture, self.start, weights)

    def parameters(self) -> Iterator[Tensor]:
        for module in self.weights.values():
            yield from module.values()

    def logits(self, maps: Tensor, members: Tensor) -> Tensor:
        """Return a row per input; ``members`` says which rows of ``maps`` are its images."""
        length, joint = len(self.architecture), self.architecture.joint
        x = maps.permute(0, 2, 3, 1) if maps.dim() == 4 else maps
        x = self._run(x, range(self.start, joint))
        if joint == length:
            return x[members[:, 0]]
        return self._run(x[members], range(joint, length))

    def _run(self, x: Tensor, layers: range) -> Tensor:
        return run_modules(self.architecture, self.weights, x, layers, logits=True)
