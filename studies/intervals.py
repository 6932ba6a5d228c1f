"""Measures, by simulation, how often an interval called 95% holds the true mean.

python studies/intervals.py [REPEATS]

Our intervals (bell_bench_leaderboard.bootstrap) are compared with plain bootstrap percentiles, for
usual numbers of realisations and sequences. Accuracies are drawn from a normal and from a skewed
distribution.
"""

from __future__ import annotations

import sys

import numpy as np

from bell_bench_leaderboard.bootstrap import _resampled_means, estimate

CASES = ((3, 1, False), (5, 1, False), (10, 1, False), (3, 9, False), (5, 9, False), (3, 5, True),
         (5, 5, True))  # fmt: skip
"""Realisations, sequences, and whether the sequences share their realisations' problems."""


def coverage(
    realisations: int, sequences: int, shared: bool, skewed: bool, repeats: int
) -> tuple[float, float]:
    """Return how often our intervals, and how often plain percentiles, hold the true mean."""
    random = np.random.RandomState(0)
    ours = percentiles = 0
    for _ in range(repeats):
        shape = (sequences, realisations)
        values = random.exponential(size=shape) - 1 if skewed else random.normal(size=shape)
        if shared:
            values += 2 * random.normal(size=realisations)
        found = estimate(list(values), [range(realisations)] * sequences if shared else None)
        moved = (values - values.mean(axis=1, keepdims=True)) / values.size
        low, high = np.quantile(_resampled_means(list(moved)), (0.025, 0.975)) + values.mean()
        ours += found.low <= 0 <= found.high
        percentiles += low <= 0 <= high
    return ours / repeats, percentiles / repeats


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| realisations | sequences | values | ours | plain percentiles |")
    print("| --- | --- | --- | --- | --- |")
    for realisations, sequences, shared in CASES:
        for skewed in (False, True):
            ours, plain = coverage(realisations, sequences, shared, skewed, repeats)
            kind = f"{'skewed' if skewed else 'normal'}{', shared' * shared}"
            print(f"| {realisations} | {sequences} | {kind} | {ours:.1%} | {plain:.1%} |")


if __name__ == "__main__":
    main()
