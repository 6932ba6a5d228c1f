"""What jobs are compared on, and the standalone run that others are compared with: one rule, for
tables and for validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from bell_bench.metrics import STANDALONE

T = TypeVar("T")
Job = Mapping[str, Any]

EQUALS = ("suite", "suite_version", "sequence", "realisation_seed", "seed", "scale", "data",
          "protocol")  # fmt: skip
"""What must agree for two jobs to be compared problem by problem."""
MADE = ("device", "threads", "software")
"""What tells how a job was run, not what it was."""


def is_standalone(job: Job) -> bool:
    """Whether this is the yardstick: our own ``sa``, whoever else may have one."""
    distribution, _, name = STANDALONE.partition(":")
    return bool(job["algorithm"] == name and str(job["provider"]).startswith(f"{distribution} "))


def same_problems(job: Job) -> tuple[Any, ...]:
    """Equal for two jobs on the same problems with the same seed."""
    return (*(job[name] for name in EQUALS), *sorted(job.get("imported", {}).items()))


def told_images(job: Job) -> str:
    """Where a job's images come from, in words: what somebody imported is no public dataset, though
    it lies among those."""
    return f"imported {job['data']}" if job.get("imported") else str(job["data"])


def yardstick(job: Job, runs: Sequence[tuple[Job, T]]) -> T | None:
    """Of the standalone runs on the same problems, the one made as ``job`` was; else the first."""

    def alike(run: tuple[Job, T]) -> bool:
        return all(run[0].get(name) == job.get(name) for name in MADE)

    return max(runs, key=alike)[1] if runs else None
