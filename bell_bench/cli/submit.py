"""``bell-bench submit``: results as one file that others can check."""

from __future__ import annotations

import pathlib
from collections import Counter

import click

from bell_bench.cli.watching import watched


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
    from bell_bench.files import write_whole
    from bell_bench_leaderboard.submission import pack

    folders = runs or (pathlib.Path("runs"),)
    packed = pack(folders, name=name, contact=contact, watch=watched("packing jobs"))
    write_whole(out, packed.content)
    counts = Counter(packed.statuses.values())
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    click.echo(f"wrote {out}: {len(packed.statuses)} jobs ({told}), {len(packed.content):,} bytes")
    for job, status in sorted(packed.statuses.items()):
        if status != "done":
            click.echo(f"  listed as {status}: {job}")
    if packed.repeated:
        click.echo(f"{len(packed.repeated)} jobs were in several folders; the first was taken")
    if packed.shortened:
        click.echo("paths of this machine were cut to their last part in")
        for place in packed.shortened:
            click.echo(f"  {place}")
    click.echo(f"check it as we will: bell-bench validate {out}")
