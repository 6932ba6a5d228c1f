"""Whether two runs that should find the same do, as nearly as unlike machines can.

What is allowed is a judgement, not a measurement: wide enough for a problem or two of six to end
elsewhere, too narrow for an invented result to hide in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bell_bench.records import STANDALONE, Job, Record, parse_record
from bell_bench.records.packed.submission import Submission
from bell_bench.records.scores import JobAccuracies, average_accuracy

POINTS = 3.0
"""How far A may be off."""
LAST_POINTS = 10.0
"""How far the last problem's accuracy may be off, on which Tr⁻¹ rests."""
FACTOR = 2.0
"""How many times as much of a cost may be counted."""


@dataclass(frozen=True)
class FigureComparison:
    """A figure then and now, in words, and whether it is as near as is allowed."""

    told: str
    near: bool


def compare(then: Record, now: Record) -> Iterator[FigureComparison]:
    """A, the last problem, FLOPs and stored bytes of two records that are done."""
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
    """Every job's, done or not."""
    return [parse_record(submission.content(name, "record.json")) for name in submission.jobs]


def identity(job: Job) -> str:
    """Equal for two jobs that must agree: one algorithm of one version on one realisation; of the
    yardstick, whichever version."""
    made = (job.algorithm, job.provider, sorted(job.options.items()))
    return repr((STANDALONE if job.is_standalone else made, job.problems))


def beyond(known: Iterable[Record], added: Iterable[Record]) -> Iterator[str]:
    """Where the added would leave all that is known incomplete: realisations and seeds that nobody
    else has on a sequence that is there."""
    there: dict[tuple[Any, ...], set[tuple[int, int]]] = {}
    for record in known:
        there.setdefault(_row(record.job), set()).add(_place(record.job))
    for record in added:
        job = record.job
        places = there.get(_row(job), {_place(job)})
        if _place(job) not in places:
            told = ", ".join(f"r{realisation} s{seed}" for realisation, seed in sorted(places))
            yield (f"{job.algorithm} on {job.sequence} r{job.realisation} s{job.seed}: "
                   f"accepted results have {told}, and would be incomplete beside it")  # fmt: skip


def _row(job: Job) -> tuple[Any, ...]:
    return (job.sequence, *job.setting)


def _place(job: Job) -> tuple[int, int]:
    return job.realisation, job.seed
