"""Charging a job for what a search computes besides training."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from bell_bench import Context

Result = TypeVar("Result")


def charged(context: Context, function: Callable[[], Result]) -> Result:
    """Return the function's result, and charge the FLOPs that it took as inference."""
    results: list[Result] = []
    context.charge(inference_flops=context.count(lambda: results.append(function())))
    return results[0]
