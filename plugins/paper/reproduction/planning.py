"""The jobs that a book of claims needs: all of them, or those that are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bell_bench.errors import unknown
from bell_bench.files import hash_json
from bell_bench.harness.plan import Plan, Request, make_plan
from bell_bench.plugins import registry
from bell_bench.records import Job, ReadRecord
from bell_bench_paper.claims import Book

HOW_IT_RAN = ("load", "device", "threads", "software")
"""The fields of a job that say how it was run, not what was run."""


@dataclass(frozen=True)
class Scope:
    """Which of the claims' runs are asked for; an empty field asks for all that the file names."""

    scale: str | None = None
    data: str | None = None
    algorithms: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    realisations: tuple[int, ...] = ()


def narrowed(book: Book, scope: Scope) -> Book:
    """Return the book with only the runs that are asked for, and the claims that these can
    decide."""
    runs = [each for part in book.parts.values() for each in part.runs]
    for kind, asked, known in (
        ("algorithm of these claims", scope.algorithms, {n for r in runs for n in r.algorithms}),
        ("sequence of these claims", scope.sequences, {n for r in runs for n in r.sequences}),
    ):
        for name in asked:
            if name not in known:
                raise unknown(kind, name, known)

    def kept(names: Iterable[str], asked: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if not asked or name in asked)

    parts = {
        name: replace(part, runs=tuple(
            replace(each, algorithms=kept(each.algorithms, scope.algorithms),
                    sequences=kept(each.sequences, scope.sequences),
                    realisations=scope.realisations or each.realisations)
            for each in part.runs))
        for name, part in book.parts.items()
    }  # fmt: skip
    claims = tuple(
        claim
        for claim in book.claims
        if not claim.protocol  # the claim is about an ablation
        or (kept((*claim.of, *claim.against), scope.algorithms) == (*claim.of, *claim.against)
            and kept(claim.on, scope.sequences) == claim.on)
    )  # fmt: skip
    return replace(book, parts=parts, claims=claims)


def plans(
    book: Book, parts: Iterable[str], scope: Scope, *, only_given: bool = False
) -> Iterator[Plan]:
    """Yield one plan for each of the parts' runs: for those to run, or for those that are
    ``only_given``."""
    for part in parts:
        for runs in book.parts[part].runs:
            if runs.algorithms and runs.sequences and runs.only_given == only_given:
                yield make_plan(
                    Request(
                        algorithms=runs.algorithms,
                        suite=runs.suite,
                        sequences=runs.sequences,
                        scale=scope.scale,
                        data=scope.data,
                        protocol=runs.protocol,
                        realisations=runs.realisations,
                    )
                )


def merged(several: Iterable[Plan]) -> Plan:
    """Return one plan for all cores, with long sequences first, so that none of them runs alone at
    the end."""
    every = list(several)
    jobs = {job.name: job for plan in every for job in plan.jobs}
    asked = {job.name for plan in every for job in plan.asked}
    unsupported = {name: why for plan in every for name, why in plan.unsupported.items()}

    def short(name: str) -> bool:
        job = jobs[name]
        return registry().suite(job.suite).sequences[job.sequence].short

    order = sorted(jobs, key=short)
    return Plan(tuple(jobs[name] for name in order), frozenset(jobs.keys() - asked), unsupported)


def known_records(records: Iterable[ReadRecord], jobs: Iterable[Job]) -> dict[str, ReadRecord]:
    """Return the done records of these jobs, by the job's name. A record counts if it is of the
    same algorithm on the same problems with the same seed and options, whatever machine and version
    ran it."""

    def identity(job: Job) -> str:
        same = {name: value for name, value in job.to_json().items() if name not in HOW_IT_RAN}
        return hash_json({**same, "provider": job.distribution})

    done = {identity(each.job): each for each in records if each.done}
    found = {job.name: done.get(identity(job)) for job in jobs}
    return {name: record for name, record in found.items() if record is not None}
