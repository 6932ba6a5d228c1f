"""``bell-bench evaluate``: plan, check, run, and print the leaderboard's rows."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import click

from bell_bench.api import evaluate
from bell_bench.cli.names import complete
from bell_bench.cli.output import check_writable
from bell_bench.cli.requests import arguments, requested
from bell_bench.units import parse_size, parse_time

if TYPE_CHECKING:
    from bell_bench_leaderboard.results import Results


@click.command()
@requested
@click.option(
    "--jobs",
    "workers",
    type=int,
    metavar="N",
    help="Jobs at once, each in its own process.  [default: as many as there are cores for]",
)
@click.option("--timeout", metavar="TIME", help="Per job, e.g. 90s, 30m, 2h.  [default: none]")
@click.option(
    "--memory",
    metavar="SIZE",
    help="Per job, e.g. 800 MB, 4G.  [default: its share of 90% of the machine's]",
)
@click.option(
    "--parallel-paths",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Paths that one job evaluates at once, where a search knows several; changes no figure.",
)
@click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="NAME",
    shell_complete=complete("executors"),
    help="Where jobs run: local, processes on this machine, or one of `bell-bench list executors`.",
)
@click.option(
    "--address",
    "--ray-address",
    "address",
    metavar="HOST:PORT",
    help="Where the executor finds its machines, as the head of a cluster.",
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=pathlib.Path, dir_okay=False),
    help="Also write one row per job to this file.",
)
@click.option("--fresh", is_flag=True, help="Start over instead of going on.")
@click.option("--quiet", is_flag=True, help="No progress, only the table.")
def command(
    workers: int | None,
    timeout: str | None,
    memory: str | None,
    parallel_paths: int,
    executor: str,
    address: str | None,
    csv_file: pathlib.Path | None,
    fresh: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Run algorithms on sequences and print how they did.

    The same command again goes on where it was stopped: finished jobs are kept, an interrupted one
    resumes at its last solved problem. Exit code 0: all done; 1: some jobs failed; 2: wrong usage.
    """
    wanted = arguments(asked)
    if csv_file is not None:
        check_writable("--csv", csv_file)
    try:
        results = evaluate(
            **wanted,
            jobs=workers,
            timeout=parse_time(timeout) if timeout else None,
            memory=parse_size(memory) if memory else None,
            parallel_paths=parallel_paths,
            executor=executor,
            address=address,
            fresh=fresh,
            quiet=quiet,
        )
    except KeyboardInterrupt:
        click.echo("stopped; nothing is lost: the same command goes on from here", err=True)
        return 130
    return report(results, csv_file)


def report(results: Results, csv_file: pathlib.Path | None) -> int:
    """Print the table and the faults, and write the CSV; return 1 if any job failed."""
    click.echo(results)
    if csv_file is not None:
        results.to_csv(csv_file)
        click.echo(f"wrote {csv_file}")
    return 1 if results.failed else 0
