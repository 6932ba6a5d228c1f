"""How far a mean over realisations can be trusted: a stratified bootstrap with the width of
Student's interval.

The bootstrap draws whole realisations with all their seeds, because two seeds of one realisation
say little about another. A stratum is a sequence. Sequences that share realisations' seeds, and so
share problems, are one stratum and are drawn together. The bootstrap gives an interval its shape.
Student's distribution gives it its width: three values cannot be resampled beyond their own range,
so plain percentiles called 95% would hold the true mean only three times in four
(studies/intervals.py).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 4000
LEVEL = 0.95

Values = NDArray[np.float64]


@dataclass(frozen=True)
class MeanEstimate:
    """A mean over realisations, with an interval where one can be given."""

    mean: float
    low: float | None
    high: float | None
    n: int
    """The number of realisations; with several sequences, the smallest such number."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def estimate(
    sequences: Sequence[Values],
    draws: Sequence[Sequence[Hashable]] | None = None,
    *,
    level: float | None = LEVEL,
) -> MeanEstimate:
    """Return the mean over sequences of their means, with an interval. There is no interval if a
    sequence has only one realisation, or if ``level`` is None.

    ``draws`` names each sequence's realisations; realisations of one name are drawn together.
    Without it, no two sequences share a realisation.
    """
    if not sequences or any(not len(values) for values in sequences):
        raise ValueError("an estimate needs at least one sequence, and values in each")
    fewest = min(len(values) for values in sequences)
    mean = float(np.mean([values.mean() for values in sequences]))
    if level is None or fewest < 2:
        return MeanEstimate(mean, None, None, fewest)
    strata = _shifts(sequences, draws)
    counts = np.array([len(shifts) for shifts in strata])
    variances = np.array([(shifts**2).sum() for shifts in strata]) * counts / (counts - 1)
    low, high = (
        np.quantile(_resampled_means(strata), (0.025, 0.975)) if variances.any() else (0.0, 0.0)
    )
    if high - low < 1e-12:
        return MeanEstimate(mean, mean, mean, fewest)
    freedom = variances.sum() ** 2 / float((variances**2 / (counts - 1)).sum())
    width = 2 * student(freedom, level) * math.sqrt(variances.sum()) / float(high - low)
    return MeanEstimate(mean, mean + width * float(low), mean + width * float(high), fewest)


def _shifts(
    sequences: Sequence[Values], draws: Sequence[Sequence[Hashable]] | None
) -> list[Values]:
    """Return by how much each realisation moves the mean, for each stratum. Sequences that have a
    realisation in common are one stratum."""
    strata: list[dict[Hashable, float]] = []
    for place, values in enumerate(sequences):
        names = draws[place] if draws else [(place, count) for count in range(len(values))]
        moved = (values - values.mean()) / len(values) / len(sequences)
        found = dict(zip(names, map(float, moved), strict=True))
        for other in [each for each in strata if each.keys() & found.keys()]:
            strata.remove(other)
            found = {n: other.get(n, 0.0) + found.get(n, 0.0) for n in {**other, **found}}
        strata.append(found)
    return [np.array([*each.values()]) for each in strata]


def _resampled_means(strata: Sequence[Values]) -> Values:
    """Return how far the means of resampled realisations lie from the mean; each stratum is
    resampled by itself."""
    return np.asarray(
        np.sum([_counts(len(each), place) @ each for place, each in enumerate(strata)], axis=0)
    )


@functools.lru_cache(maxsize=128)
def _counts(count: int, place: int) -> Values:
    """Return how often each of ``count`` realisations is drawn; always the same for a stratum's
    place."""
    random = np.random.RandomState([count, place])
    return random.multinomial(count, np.full(count, 1 / count), size=DRAWS).astype(float)


@functools.lru_cache(maxsize=1024)
def student(freedom: float, level: float) -> float:
    """Return how many standard errors Student's interval of this level reaches to each side, for at
    least one degree of freedom.

    In the angle whose tangent is t / √freedom, the density is a power of the cosine. It only falls,
    so Newton's steps from 0 approach the quantile from one side. (scipy gives the same number, but
    takes a third of a second to import.)
    """
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    places, weights = _quadrature()
    angle, step = 0.0, 1.0
    while step > 1e-12 * angle:
        held = angle / 2 * float(weights @ np.cos(angle / 2 * (places + 1)) ** (freedom - 1))
        step = (level / 2 / scale - held) / math.cos(angle) ** (freedom - 1)
        angle += step
    return math.sqrt(freedom) * math.tan(angle)


@functools.cache
def _quadrature() -> tuple[Values, Values]:
    """Return the places and weights of a quadrature on [-1, 1]."""
    return np.polynomial.legendre.leggauss(48)
