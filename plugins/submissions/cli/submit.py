"""``bell-bench submit``: results as one file that others can check."""

from __future__ import annotations

import pathlib

import click

from bell_bench.cli.progress import watched


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=pathlib.Path, exists=True))
@click.option(
    "--out",
    type=click.Path(path_type=pathlib.Path, dir_okay=False),
    default="submission.zip",
    show_default=True,
    help="The file to write.",
)
@click.option(
    "--name", default="", metavar="TEXT", help="Who submits, as the leaderboard names it."
)
@click.option("--contact", default="", metavar="TEXT", help="Where questions go. Will be public.")
def command(runs: tuple[pathlib.Path, ...], out: pathlib.Path, name: str, contact: str) -> None:
    """Pack RUNS, folders of results (default: ./runs), into one file for `bell-bench validate`.

    Holds every job's record and predictions, standalone runs included, and the hash of each; no
    logs, no weights, no paths of this machine. A job that failed is listed as failed; one that has
    not ended is refused.
    """
    from bell_bench_submissions.functions import submit

    click.echo(submit(*runs, out=out, name=name, contact=contact, watch=watched("packing jobs")))
    click.echo(f"check it as we do: bell-bench validate {out}")
