"""Check what ``predict`` returns: one rule for jobs and for the conformance suite."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bell_bench.errors import BellBenchError


def checked_scores(scores: Any, index: int, shape: tuple[int, int]) -> Tensor:
    """Return scores in double precision; raise BellBenchError if they are not finite numbers of
    this shape."""
    call = f"predict({index}, inputs)"
    wanted = f"{call} must give class scores of shape {shape}"
    if not isinstance(scores, Tensor):
        raise BellBenchError(f"{wanted}, a tensor, not {type(scores).__name__}")
    if tuple(scores.shape) != shape:
        raise BellBenchError(f"{wanted}, not {tuple(scores.shape)}")
    if scores.is_complex():
        raise BellBenchError(f"{wanted}, real numbers, not {scores.dtype}")
    numbers = scores.detach().cpu().double()
    if not bool(torch.isfinite(numbers).all()):
        raise BellBenchError(f"{call} gave scores that are not finite")
    return numbers
