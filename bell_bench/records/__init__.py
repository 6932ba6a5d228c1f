"""What a job leaves behind, as types: what it was, what it found, and what it cost.

Everything that reads or writes a result uses these: worker, hooks, ``show``, leaderboard,
submissions, reproduction. This room imports nothing of ours but errors and files.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bell_bench.records.costs import COSTS, Cost, cost_named, job_costs
from bell_bench.records.folders import JobFolder, ResultStore
from bell_bench.records.job import STANDALONE, Job, standalone_run
from bell_bench.records.record import (
    LONG,
    Environment,
    Record,
    Resources,
    SolvedProblem,
    parse_record,
)
from bell_bench.records.scores import SCORES, JobAccuracies, Score, job_scores

if TYPE_CHECKING:
    from bell_bench.records.reading import ReadRecord, read_records

__all__ = [
    "COSTS",
    "LONG",
    "SCORES",
    "STANDALONE",
    "Cost",
    "Environment",
    "Job",
    "JobAccuracies",
    "JobFolder",
    "ReadRecord",
    "Record",
    "Resources",
    "ResultStore",
    "Score",
    "SolvedProblem",
    "cost_named",
    "job_costs",
    "job_scores",
    "parse_record",
    "read_records",
    "standalone_run",
]


def __getattr__(name: str) -> Any:
    """Reading recomputes accuracies with numpy, which most commands do not need."""
    if name in ("ReadRecord", "read_records"):
        return getattr(importlib.import_module("bell_bench.records.reading"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
