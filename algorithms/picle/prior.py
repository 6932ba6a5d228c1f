"""The prior over a layer's library modules: by the accuracy they were trained to."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

TEMPERATURES = {"ctrl": 0.6247744509446062}
"""The paper's T by suite; a variant such as ctrl-resnet has that of its suite."""
TEMPERATURE = 0.001
"""The T of BELL, and of suites that are not in the paper."""


def temperature(suite: str) -> float:
    return TEMPERATURES.get(suite.partition("-")[0], TEMPERATURE)


def log_prior(accuracies: Sequence[float], temperature: float) -> Tensor:
    """Return log softmax(accuracy / T) over the modules of one layer."""
    return torch.log_softmax(torch.tensor(accuracies, dtype=torch.float64) / temperature, dim=0)
