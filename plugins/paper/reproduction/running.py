"""Runs what claims need and is not done yet, and judges the claims by all results there are."""

from __future__ import annotations

import contextlib
import json
import pathlib
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bell_bench.errors import UsageError, unknown
from bell_bench.harness.executor import JobLimits, LocalExecutor
from bell_bench.harness.plan import Plan, check_plan
from bell_bench.harness.run import run_plan
from bell_bench.records import Job, ReadRecord, Record, ResultStore, read_records
from bell_bench_leaderboard.results import Results
from bell_bench_paper.claims import Book, Evidence, judge, read_book
from bell_bench_paper.reproduction.ablations import ablation
from bell_bench_paper.reproduction.planning import Scope, known_records, merged, narrowed, plans
from bell_bench_paper.reproduction.verdicts import Reproduction

ALL = "all"
LOG = "reproduce.jsonl"
"""The name of a file beside the results, with a line per command and the time that it took."""


def reproduce(
    part: str,
    scope: Scope,
    *,
    out: pathlib.Path,
    given: Sequence[pathlib.Path],
    workers: int | None,
    run: bool,
    file: pathlib.Path | None,
    quiet: bool,
) -> Reproduction:
    """Run what a part needs and is not done yet, unless ``run`` is false, and judge its claims.

    Results in the submissions and folders ``given`` count, and are not run again.
    """
    book = narrowed(read_book(file), scope)
    if part != ALL and part not in book.parts:
        raise unknown("part", part, [*book.parts, ALL])
    parts = tuple(book.parts) if part == ALL else (part,)
    store = ResultStore(out)
    plan = merged(plans(book, parts, scope))
    others = merged(plans(book, parts, scope, only_given=True)).jobs
    others = tuple(job for job in others if job not in plan.jobs)
    asked = [name for each in parts for name in book.parts[each].ablations]
    if not (plan.jobs or others or asked):
        raise UsageError(_nothing_to_run(part, scope, book))
    known = _known(given, [*plan.jobs, *others])
    left = replace(plan, jobs=tuple(job for job in plan.jobs if job.name not in known))
    waiting = sum(not store.finished(job) for job in left.jobs)
    with _timed(out, {"part": part, "jobs": waiting, **vars(scope)}, write=run) as clock:
        if run:
            _run(left, store, workers, quiet)
        ablations = {
            name: found
            for name in asked
            if (found := ablation(name, scope, out, given, run, quiet)) is not None
        }
        records = _read(plan.jobs, store, known)
    took = {**clock, "jobs and ablations by themselves": spent_seconds(records)
            + sum(found.seconds for found in ablations.values())}  # fmt: skip
    counted = [each for each in _read(others, store, known) if each.done]
    records += counted
    evidence = Evidence(book, records, {name: found.rows for name, found in ablations.items()})
    return Reproduction(evidence, parts, judge(evidence, parts), Results(records, out),
                        tuple(ablations.values()), len(plan.jobs) + len(counted), took)  # fmt: skip


def _nothing_to_run(part: str, scope: Scope, book: Book) -> str:
    """Return a message: this part has nothing of what is asked for, and which parts do."""
    wanted = ", ".join((*scope.algorithms, *scope.sequences))
    able = [name for name, each in book.parts.items()
            if any(runs.algorithms and runs.sequences for runs in each.runs)]  # fmt: skip
    return f"{part} runs nothing of {wanted}; parts that do: {', '.join(able) or 'none'}"


def _read(
    jobs: Sequence[Job], store: ResultStore, known: Mapping[str, ReadRecord]
) -> list[ReadRecord]:
    """Return the records of jobs: those in the store, done or not, then those from elsewhere."""
    folders = (store.folder_of(job).path for job in jobs if job.name not in known)
    found = read_records(folder for folder in folders if folder.is_dir())
    return found + [known[job.name] for job in jobs if job.name in known]


def _known(paths: Sequence[pathlib.Path], jobs: Sequence[Job]) -> dict[str, ReadRecord]:
    """Return the records of these jobs that submissions and folders have; warn if there are
    none."""
    records = read_records(paths)
    if paths and not records:
        raise UsageError(f"no results in {', '.join(map(str, paths))}, given by --with")
    known = known_records(records, jobs)
    if records and not known:
        warnings.warn(
            f"none of the {len(records)} results given by --with counts: each is of another scale, "
            "source of images, protocol, algorithm or problem than the jobs asked for, or failed",
            stacklevel=3,
        )
    return known


def _run(plan: Plan, store: ResultStore, workers: int | None, quiet: bool) -> None:
    if plan.jobs:
        executor = LocalExecutor(store, JobLimits(), workers)
        check_plan(plan, executor)
        run_plan(plan, executor, quiet=quiet)


def spent_seconds(records: Iterable[Record]) -> float:
    """Return the time that the jobs took. Path evaluations are charged at their recorded cost; here
    they count with the time that computing or looking them up really took, which may be far
    less."""
    used = [problem.resources for record in records for problem in record.problems]
    return sum(each.wall_s - each.seconds + each.spent_seconds for each in used)


@contextlib.contextmanager
def _timed(
    out: pathlib.Path, command: Mapping[str, Any], *, write: bool
) -> Iterator[dict[str, float]]:
    """Give the seconds of this command, and of all commands so far, which a log in ``out``
    records."""
    started = time.monotonic()
    clock: dict[str, float] = {}
    try:
        yield clock
    finally:
        clock["this command"] = time.monotonic() - started
        log = out / LOG
        if past := _seconds(log):
            clock["all commands so far"] = past + clock["this command"] * write
        if write:
            entry = {"seconds": round(clock["this command"], 1), **command}
            out.mkdir(parents=True, exist_ok=True)
            with log.open("a", encoding="utf-8") as stream:  # other commands may write to it now
                stream.write(f"{json.dumps(entry)}\n")


def _seconds(log: pathlib.Path) -> float:
    """Return the seconds of all commands in a log; a line that was cut off counts as 0."""
    total = 0.0
    for line in log.read_text("utf-8").splitlines() if log.is_file() else ():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            total += float(json.loads(line)["seconds"])
    return total
