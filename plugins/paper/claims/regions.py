"""The rules: each gives a region where a figure must lie; the figure's interval decides whether it
does.

An interval inside the region: yes. Outside: no. Partly inside and partly outside: not enough
evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bell_bench_leaderboard.bootstrap import MeanEstimate

INSIDE, OUTSIDE, ASTRIDE = "inside", "outside", "astride"


@dataclass(frozen=True)
class Region:
    """The numbers from ``low`` to ``high``; these two belong to it if it is ``closed``."""

    low: float = -math.inf
    high: float = math.inf
    closed: bool = False

    def place(self, low: float, high: float) -> str:
        """Return where an interval lies: inside, outside or astride the border.

        An interval that ends on the border of an open region is astride. If two algorithms chose
        the same paths on all realisations, the interval is a single point on the border, and
        decides nothing.
        """
        if high < self.low or low > self.high:
            return OUTSIDE
        inside = (
            self.low <= low and high <= self.high
            if self.closed
            else self.low < low and high < self.high
        )
        return INSIDE if inside else ASTRIDE

    def room(self, found: MeanEstimate) -> float:
        """Return how far the interval's nearer end is inside the border; negative if it is beyond
        the border."""
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
    """Return the region above the margin."""
    return Region(low=margin)


def below(margin: float = 0.0) -> Region:
    """Return the region below the margin."""
    return Region(high=margin)


def within(tolerance: float, value: float = 0.0) -> Region:
    """Return the region of at most ``tolerance`` around the value."""
    return Region(value - tolerance, value + tolerance, closed=True)


def highest(tolerance: float = 0.0) -> Region:
    """Return the region for differences to all others: no other is better by more than the
    tolerance."""
    return Region(low=0.0 - tolerance)


def ascending(margin: float = 0.0) -> Region:
    """Return the region for differences of each to the next: each is lower than the next."""
    return Region(high=0.0 - margin)


RULES: Mapping[str, Callable[..., Region]] = {
    each.__name__: each for each in (above, below, within, highest, ascending)
}
