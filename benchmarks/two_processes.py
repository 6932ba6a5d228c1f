"""Compares two processes with one: how much sooner the default command ends on two cores.

Each run starts from an empty folder; the two kinds take turns. The figure means something only on a
quiet machine with two free cores, so the load before each run is printed.

    python benchmarks/two_processes.py [--repeats 2] [--sequence S_pl] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

GOAL = 0.62


def run(jobs: int, more: list[str]) -> float:
    """Return the seconds that the default command takes with ``jobs`` processes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bell_bench", "evaluate", "--algo", "picle", *more]
        command += ["--jobs", str(jobs), "--out", folder, "--quiet"]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--sequence", action="append", default=[], help="instead of all short ones")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    more = [part for name in options.sequence for part in ("--sequence", name)]
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(options.repeats):
        for jobs, found in seconds.items():
            load = os.getloadavg()[0]
            found.append(run(jobs, more))
            print(f"{jobs} at once: {found[-1]:.1f} s (load {load:.1f})", file=sys.stderr)
    ratio = median(seconds[2]) / median(seconds[1])
    if options.json:
        print(json.dumps({"seconds": seconds, "ratio": ratio, "goal": GOAL}, indent=1))
    else:
        print(f"two processes take {ratio:.2f} of one's time (goal: at most {GOAL})")


if __name__ == "__main__":
    main()
