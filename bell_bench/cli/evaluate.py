"""``bell-bench evaluate``: plan, check, run, and print the leaderboard's rows."""

from __future__ import annotations

import pathlib
import signal
from typing import TYPE_CHECKING

import click

from bell_bench.cli.names import complete
from bell_bench.errors import UsageError
from bell_bench.units import parse_size, parse_time

if TYPE_CHECKING:
    from bell_bench.results import Results


@click.command()
@click.option(
    "--algo",
    "algorithms",
    multiple=True,
    required=True,
    metavar="NAME",
    shell_complete=complete("algorithms"),
    help="An algorithm: a name, distribution:name, avalanche:NAME or ./file.py:Class. Repeatable.",
)
@click.option(
    "--suite",
    default="bell",
    show_default=True,
    shell_complete=complete("suites"),
    help="The suite of sequences.",
)
@click.option(
    "--sequence",
    "sequences",
    multiple=True,
    metavar="NAME",
    shell_complete=complete("sequences"),
    help="A sequence. Repeatable; all short ones by default.",
)
@click.option(
    "--scale",
    shell_complete=complete("scales"),
    help="quick, standard or paper.  [default: the suite's first, quick]",
)
@click.option(
    "--data",
    metavar="SOURCE",
    shell_complete=complete("sources"),
    help="Where images come from; the suite's embedded ones by default.",
)
@click.option(
    "--protocol",
    shell_complete=complete("protocols"),
    help="paper or authors-code.  [default: the suite's first, paper]",
)
@click.option(
    "--realisations",
    type=click.IntRange(min=1),
    metavar="N",
    help="The first N realisations (the published ones come first).  [default: 1]",
)
@click.option(
    "--realisation",
    "chosen",
    type=click.IntRange(min=0),
    multiple=True,
    metavar="K",
    help="Realisation K, from 0. Repeatable.",
)
@click.option(
    "--seed",
    "seeds",
    type=click.IntRange(min=0),
    multiple=True,
    metavar="N",
    help="Seed of initial weights, batches and search. Repeatable.  [default: 0]",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="ALGO.NAME=VALUE",
    help="Set an option of an algorithm (`bell-bench describe ALGO` lists them).",
)
@click.option(
    "--jobs",
    "workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Jobs at once, each in its own process.  [default: one per core]",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Threads per job; part of a result's identity.",
)
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda, cuda:1 or mps.")
@click.option("--timeout", metavar="TIME", help="Per job, e.g. 90s, 30m, 2h.  [default: none]")
@click.option(
    "--memory",
    metavar="SIZE",
    help="Per job, e.g. 800 MB, 4G.  [default: its share of 90% of the machine's]",
)
@click.option(
    "--out",
    type=click.Path(path_type=pathlib.Path, file_okay=False),
    default="runs",
    show_default=True,
    help="The folder of results.",
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
    algorithms: tuple[str, ...],
    suite: str,
    sequences: tuple[str, ...],
    scale: str | None,
    data: str | None,
    protocol: str | None,
    realisations: int | None,
    chosen: tuple[int, ...],
    seeds: tuple[int, ...],
    options: tuple[str, ...],
    workers: int | None,
    threads: int,
    device: str,
    timeout: str | None,
    memory: str | None,
    out: pathlib.Path,
    csv_file: pathlib.Path | None,
    fresh: bool,
    quiet: bool,
) -> int:
    """Run algorithms on sequences and print how they did.

    The same command again goes on where it was stopped: finished jobs are kept, an interrupted one
    resumes at its last solved problem. Exit code 0: all done; 1: some jobs failed; 2: wrong usage.
    """
    if realisations is not None and chosen:
        raise UsageError("--realisations N or --realisation K, not both")
    from bell_bench.api import evaluate

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as clean an end as Ctrl-C's
    try:
        results = evaluate(
            algorithms,
            suite=suite,
            sequences=sequences,
            scale=scale,
            data=data,
            protocol=protocol,
            realisations=chosen or realisations or 1,
            seeds=seeds or (0,),
            options=options,
            jobs=workers,
            threads=threads,
            device=device,
            timeout=parse_time(timeout) if timeout else None,
            memory=parse_size(memory) if memory else None,
            out=out,
            fresh=fresh,
            quiet=quiet,
        )
    except KeyboardInterrupt:
        click.echo("stopped; nothing is lost: the same command goes on from here", err=True)
        return 130
    return report(results, csv_file)


def report(results: Results, csv_file: pathlib.Path | None) -> int:
    """Print the table and the faults, write the CSV; 1 if any job failed."""
    click.echo(results)
    if csv_file is not None:
        results.to_csv(csv_file)
        click.echo(f"wrote {csv_file}")
    return 1 if results.failed else 0
