"""``bell-bench show``: what a run found, problem by problem, and what it cost."""

from __future__ import annotations

import pathlib
from typing import Any

import click

from bell_bench.cli.output import echo_json, table
from bell_bench.errors import UsageError, unknown


def find_jobs(run: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    """Job folders: the one named, those of a folder of runs, or those in --out whose name fits."""
    for folder in (run, out / run):
        if (folder / "job.json").is_file():
            return [folder]
        if found := sorted(file.parent for file in folder.glob("*/job.json")):
            return found
    names = [file.parent.name for file in out.glob("*/job.json")]
    if found := sorted(out / name for name in names if str(run) in name):
        return found
    if not names:
        raise UsageError(f"no run at {run}, and no jobs in {out}: run `bell-bench evaluate` first")
    raise unknown("run", str(run), names)


@click.command()
@click.argument("run", type=click.Path(path_type=pathlib.Path), default="runs")
@click.option(
    "--out",
    type=click.Path(path_type=pathlib.Path),
    default="runs",
    show_default=True,
    help="The folder of results in which RUN is looked for by name.",
)
@click.option("--json", "as_json", is_flag=True, help="The records as JSON.")
def command(run: pathlib.Path, out: pathlib.Path, as_json: bool) -> int:
    """Show RUN: a job's folder, part of its name, or a folder of runs.

    One job is told in full; several are listed, a line each.
    """
    from bell_bench.harness.store import JobFolder

    folders = [JobFolder(path) for path in find_jobs(run, out)]
    records = [(folder, folder.record()) for folder in folders]
    if as_json:
        found = [record for _, record in records if record is not None]
        echo_json(found[0] if len(records) == 1 and found else found)
    elif len(records) == 1:
        tell(*records[0])
    else:
        rows = [(folder.path.name, *standing(record)) for folder, record in records]
        click.echo(table(rows, ("job", "status", "problems", "A")))
    return 0


def standing(record: dict[str, Any] | None) -> tuple[str, int | None, float | None]:
    from bell_bench_leaderboard import result_rows

    if record is None:
        return "not finished", None, None
    average = result_rows([record])[0]["A"]
    return record["status"], len(record["problems"]), average and round(average, 2)


def tell(folder: Any, record: dict[str, Any] | None) -> None:
    """One job in full."""
    job = folder.job()
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
    click.echo(f"status: {record['status']}{reason} (log: {folder.log_file})\n")
    headers = ("problem", "learnt %", "final %", "path", "paths", "trained", "updates", "s", "MB")
    click.echo(table([_row(problem) for problem in record["problems"]], headers))
    for problem in record["problems"]:
        _tell_choice(problem)


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


def _tell_choice(problem: dict[str, Any]) -> None:
    """What was evaluated, what won and why."""
    for note in problem["notes"]:
        if "chosen" not in note:
            continue
        chosen = note["chosen"]
        click.echo(f"\nproblem {problem['index'] + 1} {problem['name']}: {chosen['why']}")
        rows = [
            (
                "*" if row["path"] == chosen["path"] else "",
                " ".join("·" if name == "new" else name for name in row["path"]),
                "diverged" if row["diverged"] else f"{100 * row['accuracy']:.2f}",
                *((row["by"],) if "by" in row else ()),
            )
            for row in note["evaluated"]
        ]
        click.echo(table(rows))
