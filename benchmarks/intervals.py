"""How often an interval called 95% holds the true mean, by simulation.

python benchmarks/intervals.py [REPEATS]

Ours (bell_bench_leaderboard.bootstrap) against plain bootstrap percentiles, for as many
realisations and sequences as people run; accuracies drawn from a normal and from a skewed
distribution.
"""

from __future__ import annotations

import sys

import numpy as np

from bell_bench_leaderboard.bootstrap import _draws, estimate

CASES = ((3, 1), (5, 1), (10, 1), (3, 9), (5, 9))
"""Realisations, sequences."""


def coverage(realisations: int, sequences: int, skewed: bool, repeats: int) -> tuple[float, float]:
    random = np.random.RandomState(0)
    ours = percentiles = 0
    for _ in range(repeats):
        shape = (sequences, realisations)
        values = random.exponential(size=shape) - 1 if skewed else random.normal(size=shape)
        found = estimate(list(values))
        low, high = np.quantile(_draws(list(values)), (0.025, 0.975))
        ours += found.low <= 0 <= found.high
        percentiles += low <= 0 <= high
    return ours / repeats, percentiles / repeats


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| realisations | sequences | values | ours | plain percentiles |")
    print("| --- | --- | --- | --- | --- |")
    for realisations, sequences in CASES:
        for skewed in (False, True):
            ours, plain = coverage(realisations, sequences, skewed, repeats)
            kind = "skewed" if skewed else "normal"
            print(f"| {realisations} | {sequences} | {kind} | {ours:.1%} | {plain:.1%} |")


if __name__ == "__main__":
    main()
