"""Measures how long a job's process takes until its work can begin: forked by the forkserver, and
started afresh; medians, and their ratio.

python benchmarks/job_start.py [REPEATS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from bell_bench import forkserver
from bell_bench.harness.executor import worker_environment


def median_seconds(begin, environment: dict[str, str], repeats: int) -> float:
    """Return the median seconds of processes that have the worker's imports and do nothing."""
    load = f"{forkserver.LOADED}:start"
    times = []
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as sink:
        begin("bell_bench.import_check", (load, "[]"), environment, sink.stdin).wait()  # warms up
        for _ in range(repeats):
            started = time.perf_counter()
            begin("bell_bench.import_check", (load, "[]"), environment, sink.stdin).wait()
            times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    environment = worker_environment(threads=1)
    forked = median_seconds(forkserver.start, environment, repeats)
    afresh = median_seconds(forkserver.start_afresh, environment, repeats)
    print(f"forked  {forked:7.3f} s\nafresh  {afresh:7.3f} s\nratio   {afresh / forked:7.1f}   "
          f"(medians, n = {repeats})")  # fmt: skip


if __name__ == "__main__":
    main()
