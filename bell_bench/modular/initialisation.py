"""Initial weights: as in the paper's BELL networks, or as in torch's own layers.

They are drawn in double precision, so that every precision starts from the same weights.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def uniform(
    shape: tuple[int, ...], bound: float, generator: torch.Generator, dtype: torch.dtype
) -> Tensor:
    """Return random numbers between −bound and bound."""
    drawn = torch.rand(shape, generator=generator, dtype=torch.float64)
    return ((2.0 * drawn - 1.0) * bound).to(dtype)


def torch_default(
    inputs: int, outputs: int, generator: torch.Generator, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Return a weight and bias drawn as nn.Linear's and nn.Conv2d's: uniform within 1/√inputs."""
    bound = 1.0 / math.sqrt(inputs)
    return {
        "weight": uniform((inputs, outputs), bound, generator, dtype),
        "bias": uniform((outputs,), bound, generator, dtype),
    }
