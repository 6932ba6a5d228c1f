"""Adam and AdamW on one flat tensor, by the kernels behind torch.optim's ``fused=True``.

They are called directly: torch.optim would import torch's compiler, which takes seconds per
process, and would spend more time around the kernel than a step of small modules takes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bell_bench.errors import unknown
from bell_bench.modular.private_torch import FUSED
from bell_bench.modular.settings import TrainingSettings


class Optimiser:
    """Adam or AdamW, as the settings say, on one flat tensor.

    Write the gradient into ``gradient``, then call ``step``, which updates ``parameters`` in place.
    """

    def __init__(self, parameters: Tensor, settings: TrainingSettings) -> None:
        if settings.optimiser not in FUSED:
            raise unknown("optimiser", settings.optimiser, FUSED)
        self.parameters = parameters
        self.gradient = torch.zeros_like(parameters)
        self.steps = torch.zeros((), dtype=torch.float32, device=parameters.device)
        """How many updates there have been."""
        self._kernel, self._settings = FUSED[settings.optimiser], settings
        self._mean, self._square = torch.zeros_like(parameters), torch.zeros_like(parameters)

    def step(self) -> None:
        """Update the parameters once."""
        self.steps += 1
        self._kernel(
            [self.parameters],
            [self.gradient],
            [self._mean],
            [self._square],
            [],
            [self.steps],
            lr=self._settings.learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=self._settings.weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )
