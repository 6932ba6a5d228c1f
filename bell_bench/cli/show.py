"""``bell-bench show``: what a run found, problem by problem, how it chose, and what it cost."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import click

from bell_bench.cli.output import echo_json
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.facts.jobs import draw, find_jobs
from bell_bench.facts.notes import search_notes, told_problem
from bell_bench.text import table

if TYPE_CHECKING:
    from bell_bench.harness.store import JobFolder


@click.command()
@click.argument("run", type=click.Path(path_type=pathlib.Path), default="runs")
@click.option(
    "--out",
    type=click.Path(path_type=pathlib.Path),
    default="runs",
    show_default=True,
    help="The folder of results in which RUN is looked for by name.",
)
@click.option("--problem", type=click.IntRange(1), help="Of one job: only this problem, in full.")
@click.option("--full", is_flag=True, help="Of one job: the candidates of every choice too.")
@click.option("--json", "as_json", is_flag=True, help="The records as JSON, always in full.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, writable=True, path_type=pathlib.Path),
    help="Draw a modular job's library and chosen paths to this PNG file.",
)
def command(
    run: pathlib.Path,
    out: pathlib.Path,
    problem: int | None,
    full: bool,
    as_json: bool,
    picture: pathlib.Path | None,
) -> int:
    """Show RUN: a job's folder, part of its name, or a folder of runs.

    One job is told problem by problem; several are listed, a line each.
    """
    from bell_bench.harness.store import JobFolder

    folders = [JobFolder(path) for path in find_jobs(run, out)]
    asked = {"--problem": problem, "--full": full, "--picture": picture}
    if len(folders) > 1 and (given := [name for name, value in asked.items() if value]):
        names = "\n  ".join(folder.path.name for folder in folders)
        raise UsageError(
            f"{given[0]} is for one job, {str(run)!r} means {len(folders)}; name one:\n  {names}"
        )
    try:
        _show([(folder, folder.record()) for folder in folders], problem, full, as_json, picture)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise BellBenchError(
            f"a record of {run} is not as bell-bench writes them ({type(error).__name__}: {error}):"
            " it was changed or damaged. `bell-bench evaluate` makes it again"
        ) from error
    return 0


def _show(
    records: list[tuple[JobFolder, dict[str, Any] | None]],
    problem: int | None,
    full: bool,
    as_json: bool,
    picture: pathlib.Path | None,
) -> None:
    if picture is not None:
        draw(*records[0], picture)
        click.echo(f"wrote {picture}", err=True)
    if as_json:
        found = [record for _, record in records if record is not None]
        echo_json(found[0] if len(records) == 1 and found else found)
    elif len(records) == 1:
        tell(*records[0], problem, full)
    else:
        rows = [(folder.path.name, *standing(record)) for folder, record in records]
        click.echo(table(rows, ("job", "status", "problems", "A")))


def standing(record: dict[str, Any] | None) -> tuple[str, int | None, float | None]:
    """Status, solved problems and A, for a line of a list."""
    from bell_bench_leaderboard import result_rows

    if record is None:
        return "not finished", None, None
    average = result_rows([record])[0]["A"]
    return record["status"], len(record["problems"]), average and round(average, 2)


def tell(folder: JobFolder, record: dict[str, Any] | None, number: int | None, full: bool) -> None:
    """One job: all problems in short or in full, or the one of this number in full."""
    job, problems = folder.job(), _wanted(record["problems"], number) if record else []
    click.echo(f"{folder.path}")
    click.echo(
        f"{job.algorithm} ({job.provider}) on {job.suite} {job.sequence}, realisation "
        f"{job.realisation} (seed {job.realisation_seed}), seed {job.seed}; "
        f"scale {job.scale}, data {job.data}, protocol {job.protocol}"
    )
    if job.options:
        click.echo("options: " + ", ".join(f"{k}={v}" for k, v in job.options.items()))
    if record is None:
        click.echo("not finished: it runs, or was cut off; the same evaluate command goes on")
        return
    reason = f": {record['reason']}" if record["reason"] else ""
    click.echo(f"status: {record['status']}{reason} (log: {folder.log_file})")
    if measured := record.get("metrics"):
        click.echo(
            f"A {measured['A']:.2f}, F {measured['F']:+.2f}, backward transfer "
            f"{measured['backward_transfer']:+.2f} (first problem, end against learnt)"
        )
    click.echo()
    headers = ("problem", "learnt %", "final %", "path", "paths", "trained", "updates", "s", "MiB")
    click.echo(table([_row(problem) for problem in problems], headers))
    full = full or number is not None
    for problem in problems:
        if told := list(told_problem(problem, full)):
            click.echo("\n" + "\n".join(told))
    if not full and any(search_notes(problem) for problem in problems):
        click.echo("\n--problem N or --full tells what each was chosen from")


def _wanted(problems: list[dict[str, Any]], number: int | None) -> list[dict[str, Any]]:
    if number is None:
        return problems
    if number > len(problems):
        raise UsageError(f"there is no problem {number}: the job has solved {len(problems)}")
    return [problems[number - 1]]


def _row(problem: dict[str, Any]) -> tuple[Any, ...]:
    used = problem["resources"]
    final = problem.get("accuracy_final")
    return (
        f"{problem['index'] + 1} {problem['name']}",
        round(100 * problem["accuracy_learnt"], 2),
        None if final is None else round(100 * final, 2),
        " ".join(problem["path"] or ["–"]),
        used["paths_evaluated"],
        used["paths_trained"],
        used["updates"],
        round(used["wall_s"], 2),
        round(used["peak_memory_bytes"] / 1024**2),
    )
