"""The rules: each says in which region a figure must lie, and an interval decides whether it does.

An interval inside the region: yes. Outside: no. Astride its border: not enough evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bell_bench_leaderboard.bootstrap import Estimate

INSIDE, OUTSIDE, ASTRIDE = "inside", "outside", "astride"


@dataclass(frozen=True)
class Region:
    """From ``low`` to ``high``; the borders belong to it if it is ``closed``."""

    low: float = -math.inf
    high: float = math.inf
    closed: bool = False

    def place(self, low: float, high: float) -> str:
        """Where an interval lies. One that ends on the border of an open region is astride: of no
        width, as where two algorithms chose alike on all realisations, it speaks for neither."""
        if high < self.low or low > self.high:
            return OUTSIDE
        inside = (
            self.low <= low and high <= self.high
            if self.closed
            else self.low < low and high < self.high
        )
        return INSIDE if inside else ASTRIDE

    def room(self, found: Estimate) -> float:
        """How far the interval's nearer end is from the border; below 0 where it is beyond."""
        low, high = found.interval or (found.mean, found.mean)
        return min(low - self.low, self.high - high)

    def __str__(self) -> str:
        least, most = ("≥", "≤") if self.closed else (">", "<")
        if math.isinf(self.high):
            return f"{least} {self.low:g}"
        if math.isinf(self.low):
            return f"{most} {self.high:g}"
        return f"from {self.low:g} to {self.high:g}"


def above(margin: float = 0.0) -> Region:
    """More than the margin."""
    return Region(low=margin)


def below(margin: float = 0.0) -> Region:
    """Less than the margin."""
    return Region(high=margin)


def within(tolerance: float, value: float = 0.0) -> Region:
    """As much as the value, give or take the tolerance."""
    return Region(value - tolerance, value + tolerance, closed=True)


def highest(tolerance: float = 0.0) -> Region:
    """For differences to all others: nobody is better, or not by more than the tolerance."""
    return Region(low=0.0 - tolerance)


def ascending(margin: float = 0.0) -> Region:
    """For differences of each to the next: every one is lower."""
    return Region(high=0.0 - margin)


RULES: Mapping[str, Callable[..., Region]] = {
    each.__name__: each for each in (above, below, within, highest, ascending)
}
