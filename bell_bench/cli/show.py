"""``bell-bench show``: what a run found, problem by problem, how it chose, and what it cost."""

from __future__ import annotations

import pathlib

import click

from bell_bench.cli.output import echo_json
from bell_bench.descriptions.job_report import tell_jobs
from bell_bench.descriptions.jobs import draw, find_jobs, require_one
from bell_bench.records import JobFolder


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
@click.option("--full", is_flag=True, help="Of one job: all notes, and more of every choice.")
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

    One job is shown problem by problem; several are listed, a line each.
    """
    folders = [JobFolder(path) for path in find_jobs(run, out)]
    require_one(folders, run, {"--problem": problem, "--full": full, "--picture": picture})
    if picture is not None:
        draw(folders[0], folders[0].record(), picture)
        click.echo(f"wrote {picture}", err=True)
    if as_json:
        found = [record.to_json() for folder in folders if (record := folder.record())]
        echo_json(found[0] if len(folders) == 1 and found else found)
    else:
        click.echo(tell_jobs(folders, problem=problem, full=full, more="--problem N or --full"))
    return 0
