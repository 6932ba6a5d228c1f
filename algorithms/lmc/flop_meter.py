"""Counts FLOPs without counting every step: steps of one kind cost the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from bell_bench import Context

Result = TypeVar("Result")


class Meter:
    """Adds up the FLOPs of what it runs; the first run of each kind is counted."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.flops = 0.0
        self._prices: dict[Hashable, float] = {}

    def run(self, kind: Hashable, function: Callable[[], Result]) -> Result:
        """Return the function's result, and add as many FLOPs as the first of its kind took."""
        if kind not in self._prices:
            before = self.flops
            result = self.count(function)
            self._prices[kind] = self.flops - before
            return result
        self.flops += self._prices[kind]
        return function()

    def count(self, function: Callable[[], Result]) -> Result:
        """Return the function's result, and add the FLOPs that it took."""
        results: list[Result] = []
        self.flops += self.context.count(lambda: results.append(function()))
        return results[0]
