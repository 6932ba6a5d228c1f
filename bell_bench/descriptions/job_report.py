"""Report what jobs found, how they chose and what it cost, problem by problem, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bell_bench.descriptions.notes import search_notes, told_problem
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.records.scores import SCORES, JobAccuracies, average_accuracy
from bell_bench.text import table

if TYPE_CHECKING:
    from bell_bench.records import JobFolder, Record, SolvedProblem


def tell_jobs(folders: Sequence[JobFolder], *, problem: int | None, full: bool, more: str) -> str:
    """Report one job by problem, or several in a line each. ``more`` says how to see all."""
    try:
        if len(folders) == 1:
            (folder,) = folders
            return "\n".join(_tell(folder, folder.record(), problem, full, more))
        rows = [(folder.path.name, *_standing(folder.record())) for folder in folders]
        return table(rows, ("job", "status", "problems", "A"))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise BellBenchError(
            f"a record in {folders[0].path.parent} is not as bell-bench writes them "
            f"({type(error).__name__}: {error}): it was changed or damaged. `bell-bench evaluate` "
            "makes it again"
        ) from error


def _standing(record: Record | None) -> tuple[str, int | None, float | None]:
    """Return status, number of solved problems and A, for a line of a list."""
    if record is None:
        return "not finished", None, None
    average = round(average_accuracy(JobAccuracies.of(record)), 2) if record.done else None
    return record.status, len(record.problems), average


def _tell(
    folder: JobFolder, record: Record | None, number: int | None, full: bool, more: str
) -> Iterator[str]:
    """Yield the report of one job: of all problems, or in full of the one of this number."""
    job, problems = folder.job(), _wanted(record.problems, number) if record else []
    yield f"{folder.path}"
    yield (
        f"{job.algorithm} ({job.provider}) on {job.suite} {job.sequence}, realisation "
        f"{job.realisation} (seed {job.realisation_seed}), seed {job.seed}; "
        f"scale {job.scale}, data {job.data}, protocol {job.protocol}"
    )
    if job.imported:
        yield f"{job.images}: " + ", ".join(f"{k}={v}" for k, v in job.imported.items())
    if job.options:
        yield "options: " + ", ".join(f"{k}={v}" for k, v in job.options.items())
    if record is None:
        yield "not finished: it is running, or was stopped; the same evaluate command goes on"
        return
    reason = f": {record.reason}" if record.reason else ""
    yield f"status: {record.status}{reason} (log: {folder.log_file})"
    if measured := record.metrics:
        known = (score for score in SCORES if score.key in measured)
        yield ", ".join(f"{each.title} {each.form.format(measured[each.key])}" for each in known)
    headers = ("problem", "learnt %", "final %", "path", "paths", "trained", "updates", "s", "MiB")
    yield "\n" + table([_row(problem) for problem in problems], headers)
    full = full or number is not None
    for problem in problems:
        if told := list(told_problem(problem, full)):
            yield "\n" + "\n".join(told)
    if not full and any(search_notes(problem) for problem in problems):
        yield f"\n{more} tells more of what each was chosen from"


def _wanted(problems: list[SolvedProblem], number: int | None) -> list[SolvedProblem]:
    if number is None:
        return problems
    if number > len(problems):
        raise UsageError(f"there is no problem {number}: the job has solved {len(problems)}")
    return [problems[number - 1]]


def _row(problem: SolvedProblem) -> tuple[Any, ...]:
    used = problem.resources
    return (
        f"{problem.index + 1} {problem.name}",
        _percent(problem.accuracy_learnt),
        _percent(problem.accuracy_final),
        " ".join(problem.path or ["–"]),
        used.paths_evaluated,
        used.paths_trained,
        used.updates,
        round(used.wall_s, 2),
        round(used.peak_memory_bytes / 1024**2),
    )


def _percent(accuracy: float | None) -> float | None:
    return None if accuracy is None else round(100 * accuracy, 2)
