"""Whether two runs that should give the same results agree, as far as different machines can.

The allowed differences are a judgement, not a measurement: wide enough for one or two problems of
six to end differently, too narrow to hide an invented result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bell_bench.records import STANDALONE, Job, Record, parse_record
from bell_bench.records.packed.submission import Submission
from bell_bench.records.scores import JobAccuracies, average_accuracy

POINTS = 3.0
"""How far A may differ."""
LAST_POINTS = 10.0
"""How far the accuracy on the last problem may differ; Tr⁻¹ is based on it."""
FACTOR = 2.0
"""By which factor a counted cost may differ."""


@dataclass(frozen=True)
class FigureComparison:
    """A figure before and now, in words, and whether the two are within what is allowed."""

    told: str
    near: bool


def compare(then: Record, now: Record) -> Iterator[FigureComparison]:
    """Compare A, the last problem's accuracy, FLOPs and stored bytes of two done records."""
    names = {"A": POINTS, "the last problem's accuracy": LAST_POINTS}
    scores = zip(names.items(), _scores(then), _scores(now), strict=True)
    for (name, allowed), before, after in scores:
        told = f"{name} was {before:.2f} and is {after:.2f}: {allowed:g} points are allowed"
        yield FigureComparison(told, abs(before - after) <= allowed)
    for name, before, after in zip(
        ("FLOPs", "stored bytes"), _costs(then), _costs(now), strict=True
    ):
        told = f"{name} were {before:.4g} and are {after:.4g}: a factor of {FACTOR:g} is allowed"
        yield FigureComparison(told, max(before, after) <= FACTOR * min(before, after))


def _scores(record: Record) -> tuple[float, float]:
    return average_accuracy(JobAccuracies.of(record)), 100 * record.final[-1]


def _costs(record: Record) -> tuple[float, float]:
    used = [problem.resources for problem in record.problems]
    return sum(each.train_flops for each in used), used[-1].stored_bytes


def all_records(submission: Submission) -> list[Record]:
    """Return the record of every job, done or not."""
    return [parse_record(submission.content(name, "record.json")) for name in submission.jobs]


def identity(job: Job) -> str:
    """Return a key that is equal for two jobs that must agree: the same algorithm, in the same
    version, on the same realisation; for the standalone algorithm, in any version."""
    made = (job.algorithm, job.provider, sorted(job.options.items()))
    return repr((STANDALONE if job.is_standalone else made, job.problems))


def beyond(known: Iterable[Record], added: Iterable[Record]) -> Iterator[str]:
    """Yield a message for each added job that would leave the known results incomplete: its
    realisation and seed are new on a sequence that has results."""
    there: dict[tuple[Any, ...], set[tuple[int, int]]] = {}
    for record in known:
        there.setdefault(_row(record.job), set()).add(_place(record.job))
    for record in added:
        job = record.job
        places = there.get(_row(job), {_place(job)})
        if _place(job) not in places:
            told = ", ".join(f"r{realisation} s{seed}" for realisation, seed in sorted(places))
            yield (
                f"{job.algorithm} on {job.sequence} r{job.realisation} s{job.seed}: accepted "
                f"results have only {told}, and would be incomplete with it"
            )


def _row(job: Job) -> tuple[Any, ...]:
    return (job.sequence, *job.setting)


def _place(job: Job) -> tuple[int, int]:
    return job.realisation, job.seed
