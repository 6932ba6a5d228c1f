"""Measures making a problem at the published sizes: seconds besides loading its domain.

python benchmarks/problem.py [SEQUENCE …]
"""

from __future__ import annotations

import sys
import time
from statistics import median

from bell_bench.data import load_domain
from bell_bench.suites.bell.suite import BELL


def main() -> None:
    for name in sys.argv[1:] or ["S_minus", "S_in"]:
        seed = BELL.realisation_seed(name, 0)
        settings = {"scale": "paper", "protocol": "paper", "data": "glyphs"}
        sequence = BELL.sequence(name, seed=seed, **settings)
        for position in (0, len(sequence) - 1):
            start = time.perf_counter()
            load_domain(sequence.places[position].domain, "glyphs", sequence.scale.domain)
            loading = time.perf_counter() - start
            times = []
            for _ in range(4):
                start = time.perf_counter()
                problem = sequence.problem(position)
                sequence.test(position)
                times.append(time.perf_counter() - start)
            row = sequence.describe()[position]
            kind = f"{row['symbol']}, {row['points']} points"
            cost = f"domain {loading:.2f} s, problem and test {median(times[1:]):.3f} s"
            print(f"{name} {position + 1} {problem.name} ({kind}): {cost}")


if __name__ == "__main__":
    main()
