"""What a job leaves behind, as types: its description, its results and its costs.

All code that reads or writes a result uses these: worker, hooks, ``show``, leaderboard,
submissions, reproduction. This package imports nothing of ours but errors, files and lazy names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bell_bench.lazy import lazy_names
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

__getattr__ = lazy_names(  # reading recomputes accuracies with numpy, which few commands need
    __name__,
    dict.fromkeys(("ReadRecord", "read_records"), "bell_bench.records.reading"),
)
