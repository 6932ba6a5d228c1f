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
    """Updates ``parameters`` in place from the values in ``gradient``."""

    def __init__(self, parameters: Tensor, settings: TrainingSettings) -> None:
        if settings.optimiser not in FUSED:
            raise unknown("optimiser", settings.optimiser, FUSED)
        self.kernel = FUSED[settings.optimiser]
        self.settings = settings
        self.parameters = parameters
        self.gradient = torch.zeros_like(parameters)
        self.mean = torch.zeros_like(parameters)
        self.square = torch.zeros_like(parameters)
        self.steps = torch.zeros((), dtype=torch.float32, device=parameters.device)

    def step(self) -> None:
        self.steps += 1
        self.kernel(
            [self.parameters],
            [self.gradient],
            [self.mean],
            [self.square],
            [],
            [self.steps],
            lr=self.settings.learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=self.settings.weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )
