"""Measures how long a command takes to answer: medians on a warm disk, beside a bare Python.

python benchmarks/cli_start.py [REPEATS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

LIMITS = {
    "--help": 0.4,
    "--version": 0.4,
    "list": 1.0,
    "list --json": 1.0,
    "describe sa": 1.0,
    "describe S_few": 1.0,
    "describe S_long --json": 1.0,
    "plugins": 1.0,
}
"""The commands, and the seconds that they may take."""


def median_seconds(command: list[str], repeats: int) -> float:
    """Return the median seconds of a command."""
    subprocess.run(command, capture_output=True, check=True)  # warms the disk
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> int:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    bare = median_seconds([sys.executable, "-c", "pass"], repeats)
    print(f"{'command':36}{'median s':>10}{'limit':>8}{'× python':>10}   (n = {repeats})")
    print(f"{'python -c pass':36}{bare:10.3f}{'':8}{1:10.1f}")
    late = 0
    for arguments, limit in LIMITS.items():
        seconds = median_seconds([sys.executable, "-m", "bell_bench", *arguments.split()], repeats)
        late += seconds > limit
        verdict = "" if seconds <= limit else "   too slow"
        columns = f"{seconds:10.3f}{limit:8.1f}{seconds / bare:10.1f}"
        print(f"{'bell-bench ' + arguments:36}{columns}{verdict}")
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main())
