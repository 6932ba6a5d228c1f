"""All that ``bell-bench evaluate`` does after its checks: ``python -m tests.faults.run_jobs OUT``.

The checks start a process that imports torch, and a test that ends runs over and over would spend
its time on that.
"""

from __future__ import annotations

import pathlib
import sys

from bell_bench.harness.executor import JobLimits, LocalExecutor
from bell_bench.harness.plan import Request, make_plan
from bell_bench.harness.run import run_plan
from bell_bench.records import ResultStore

ALGORITHM, OPTION, SUITE, SEQUENCE = "houdini", "houdini.paths=4", "tiny", "S_pl"

if __name__ == "__main__":
    plan = make_plan(Request((ALGORITHM,), suite=SUITE, sequences=(SEQUENCE,), options=(OPTION,)))
    store = ResultStore(pathlib.Path(sys.argv[1]))
    run_plan(plan, LocalExecutor(store, JobLimits(), 2))
