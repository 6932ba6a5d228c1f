"""How far a mean over realisations can be trusted: a stratified bootstrap of Student's width.

Strata are sequences, and what is drawn is a realisation with all its seeds: two seeds of one
realisation say little about another. Nor do two sequences that share their realisations' seeds, and
so their problems: they are one stratum, drawn together. The bootstrap gives an interval its shape.
Its width is Student's: three values cannot be resampled beyond their own range, so that plain
percentiles, called 95%, would hold the true mean three times in four (benchmarks/intervals.py).
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
class Estimate:
    """A mean over realisations, and its interval where one can be given."""

    mean: float
    low: float | None
    high: float | None
    n: int
    """The realisations behind it; of several sequences, the fewest."""

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


def together(sequences: Sequence[Values], draws: Sequence[Hashable]) -> list[Values]:
    """The strata of sequences: those of one draw side by side, (realisations, sequences)."""
    groups: dict[Hashable, list[Values]] = {}
    for values, draw in zip(sequences, draws, strict=True):
        groups.setdefault(draw, []).append(values)
    return [np.column_stack(group) for group in groups.values()]


def estimate(strata: Sequence[Values], *, level: float | None = LEVEL) -> Estimate:
    """The mean over sequences of their means, with an interval; none where a stratum has one
    realisation, or no level is asked for.

    A stratum is one sequence's values, or several's that were drawn together as columns.
    """
    if not strata or any(not len(values) for values in strata):
        raise ValueError("an estimate needs at least one stratum, and values in each")
    sizes = np.array([len(values) for values in strata])
    tables = [values.reshape(len(values), -1) for values in strata]
    shares = np.array([table.shape[1] for table in tables], dtype=float)
    shares /= shares.sum()
    realisations = [table.mean(axis=1) for table in tables]
    mean = float(shares @ [values.mean() for values in realisations])
    if level is None or sizes.min() < 2:
        return Estimate(mean, None, None, int(sizes.min()))
    variances = np.array([values.var(ddof=1) for values in realisations]) / sizes * shares**2
    drawn = _draws(realisations, shares)
    low, high = np.quantile(drawn, (0.025, 0.975)) if variances.any() else (mean, mean)
    if high - low < 1e-12:
        return Estimate(mean, mean, mean, int(sizes.min()))
    freedom = variances.sum() ** 2 / float((variances**2 / (sizes - 1)).sum())
    width = 2 * student(freedom, level) * math.sqrt(variances.sum()) / float(high - low)
    return Estimate(
        mean, mean - width * (mean - float(low)), mean + width * (float(high) - mean),
        int(sizes.min()),
    )  # fmt: skip


def _draws(strata: Sequence[Values], shares: Values) -> Values:
    """Means of resampled realisations, each stratum resampled by itself."""
    means = [_weights(len(values), place) @ values for place, values in enumerate(strata)]
    return np.asarray(shares @ means)


@functools.lru_cache(maxsize=128)
def _weights(count: int, place: int) -> Values:
    """How often each of ``count`` realisations is drawn, always the same for a stratum's place."""
    random = np.random.RandomState([count, place])
    return random.multinomial(count, np.full(count, 1 / count), size=DRAWS) / count


@functools.lru_cache(maxsize=1024)
def student(freedom: float, level: float) -> float:
    """How many standard errors to each side Student's interval of this level reaches, for at least
    one degree of freedom.

    In the angle whose tangent is t / √freedom the density is a power of the cosine, which only
    falls, so that Newton's steps from 0 approach the quantile from one side. (scipy's is the same
    number, and a third of a second to import.)
    """
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    places, weights = _gauss()
    angle, step = 0.0, 1.0
    while step > 1e-12 * angle:
        held = angle / 2 * float(weights @ np.cos(angle / 2 * (places + 1)) ** (freedom - 1))
        step = (level / 2 / scale - held) / math.cos(angle) ** (freedom - 1)
        angle += step
    return math.sqrt(freedom) * math.tan(angle)


@functools.cache
def _gauss() -> tuple[Values, Values]:
    """Places and weights of a quadrature on [-1, 1]."""
    return np.polynomial.legendre.leggauss(48)
