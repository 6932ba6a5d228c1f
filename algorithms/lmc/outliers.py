"""Whether a batch is unlike those that a module was trained on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

FEW = 2
"""After this many batches or fewer, nothing is an outlier."""


class Window:
    """The mean errors of the last batches a module was trained on."""

    def __init__(self, size: int, means: Iterable[float] = ()) -> None:
        self.means: deque[float] = deque(means, maxlen=size)

    def add(self, mean: float) -> None:
        self.means.append(mean)

    def score(self, mean: float) -> float:
        """Return how many standard deviations a batch's mean error is off: |mean − μ| / σ."""
        if len(self.means) <= FEW:
            return 0.0
        centre = math.fsum(self.means) / len(self.means)
        square = math.fsum((value - centre) ** 2 for value in self.means) / len(self.means)
        distance, deviation = abs(mean - centre), math.sqrt(square)
        if deviation == 0.0:
            return math.inf if distance > 0.0 else 0.0
        return distance / deviation
