"""What each job of a plan will take: what records tell, or else what can be counted."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bell_bench.harness.counted import Amount, Sizes, Uncountable, count
from bell_bench.harness.plan import Plan, sequence_of
from bell_bench.harness.progress import Tell
from bell_bench.harness.recorded import PastRuns, mean_amount, mean_seconds
from bell_bench.records import Job, Record, ResultStore

if TYPE_CHECKING:
    from bell_bench.harness.calibration import Machine


@dataclass(frozen=True)
class JobEstimate:
    """What one job takes, and how that is known."""

    job: Job
    amount: Amount | None
    """None if it is neither recorded nor counted."""
    records: tuple[Record, ...] = ()
    """What it rests on; none if it is counted."""
    recorded_seconds: float | None = None
    """None if no record tells the seconds of this processor."""
    counted: Amount | None = None
    """What was counted: where there are no records, and for comparison where the job has run."""
    why: str = ""
    """Why the job could not be counted."""

    @property
    def ran(self) -> Record | None:
        """The job's own record, if it is done."""
        return self.records[0] if self.records and self.records[0].job == self.job else None

    @property
    def needs_timing(self) -> bool:
        """Whether its seconds follow only from how fast this machine trains."""
        return self.amount is not None and self.recorded_seconds is None

    def seconds(self, machine: Machine | None) -> float | None:
        """Return the seconds that records tell, or else those that this machine would take; None
        if neither is known."""
        if self.recorded_seconds is not None or self.amount is None or machine is None:
            return self.recorded_seconds
        return machine.start_seconds + machine.seconds(self.amount.updates, self.amount.flops)


def estimate(plan: Plan, store: ResultStore, sizes: Sizes, tell: Tell) -> list[JobEstimate]:
    """Return one estimate for each job that can run."""
    jobs = [job for job in plan.jobs if job.name not in plan.unsupported]
    past, found = PastRuns(store, jobs, tell), []
    for number, job in enumerate(jobs, start=1):
        found.append(_estimate(job, past, sizes))
        tell(f"estimating {job.algorithm} {job.sequence}", number, len(jobs))
    return found


def _estimate(job: Job, past: PastRuns, sizes: Sizes) -> JobEstimate:
    """Return what records of the same sequence tell; else what is counted; else what records of
    other sequences tell. Counting knows the sequence, so it goes before those."""
    records, counted, why = past.on_its_sequence(job), None, ""
    if not records or records[0].job == job:
        try:
            counted = count(job, sizes)
        except Uncountable as error:
            why = str(error)
    if counted is None:
        records = records or past.elsewhere(job)
    if not records:
        return JobEstimate(job, counted, counted=counted, why=why)
    problems = len(sequence_of(job))
    return JobEstimate(
        job,
        mean_amount(records, problems),
        tuple(records),
        mean_seconds(records, problems, job),
        counted,
        why,
    )


def makespan(seconds: Iterable[float], slots: int) -> float:
    """Return when the last of some jobs ends that are begun in this order, ``slots`` at once."""
    waiting = list(seconds)
    free = [0.0] * max(1, min(slots, len(waiting)))
    for each in waiting:
        heapq.heappush(free, heapq.heappop(free) + each)
    return max(free)
