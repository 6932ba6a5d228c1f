"""The costs of a job: the one list that tables, CSV, page and submissions follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bell_bench.records.job import Job
from bell_bench.records.record import Record, Resources

MEGABYTE = 1024**2


def last(values: Sequence[float]) -> float:
    return values[-1]


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


@dataclass(frozen=True)
class Cost:
    """A cost that every job has: a column of the CSV and of ``Results.leaderboard``."""

    name: str
    """The name of its column."""
    title: str
    """Its title in tables."""
    says: str
    """Its meaning, in a line."""
    of: Callable[[Resources, Job], float | None]
    """A function that returns what one problem cost; None if that is not known."""
    over: Callable[[Sequence[float]], float] = sum
    """A function from the costs of the problems to the cost of the job."""
    form: str = "{:.0f}"
    unit: float = 1.0
    """The factor for tables."""
    summary: bool = False
    """Whether the short tables show it."""
    traded: bool = False
    """Whether the tables and charts of costs show it beside A."""
    column: bool = True
    """Whether the CSV has it."""
    spent: str = ""
    """If a budget can be set: the name in tables of what is spent problem by problem."""

    def of_record(self, record: Record) -> float | None:
        """Return what the solved problems cost together; None if there are none."""
        found = [self.of(each.resources, record.job) for each in record.problems]
        known = [each for each in found if each is not None]
        return self.over(known) if known else None


def _seconds(used: Resources, job: Job) -> float:
    return used.cpu_s if job.device == "cpu" else used.wall_s


COSTS = (
    Cost("seconds", "seconds",
         "the processor's, which other work on the machine does not lengthen; on other devices the "
         "clock's, as the processor only waits for them",
         _seconds, form="{:.1f}", summary=True, traded=True, column=False, spent="seconds"),
    Cost("wall_s", "wall s", "seconds of learning by the clock", lambda used, job: used.wall_s,
         form="{:.1f}"),
    Cost("cpu_s", "CPU s", "seconds of learning of the processor", lambda used, job: used.cpu_s,
         form="{:.1f}"),
    Cost("updates", "updates", "updates of weights", lambda used, job: used.updates, summary=True),
    Cost("train_flops", "TFLOPs", "floating-point operations of training",
         lambda used, job: used.train_flops, form="{:.3g}", unit=1e-12, summary=True, traded=True,
         spent="FLOPs"),
    Cost("peak_memory_mb", "peak MiB", "the most memory that learning took",
         lambda used, job: used.peak_memory_bytes / MEGABYTE, max, summary=True, traded=True),
    Cost("stored_mb", "stored MiB", "what the algorithm keeps at the end",
         lambda used, job: used.stored_bytes / MEGABYTE, last, "{:.2f}", traded=True),
    Cost("paths_evaluated", "paths", "paths that were asked for",
         lambda used, job: used.paths_evaluated),
    Cost("paths_trained", "trained", "paths with something to train",
         lambda used, job: used.paths_trained),
    Cost("flop_coverage", "coverage", "the share of executed operators whose FLOPs were counted",
         lambda used, job: used.flop_coverage, mean, "{:.0%}"),
)  # fmt: skip
"""All costs, in the order of their columns. A new one needs its line here and nothing else."""


def cost_named(name: str) -> Cost:
    return next(cost for cost in COSTS if cost.name == name)


def job_costs(record: Record) -> dict[str, float | None]:
    """Return every cost of a job by name."""
    return {cost.name: cost.of_record(record) for cost in COSTS}
