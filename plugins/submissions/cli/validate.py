"""``bell-bench validate``: whether a submission's figures follow from its predictions."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

import click

from bell_bench.cli.progress import watched

if TYPE_CHECKING:
    from bell_bench_submissions import Report, Submission


@click.command()
@click.argument("file", type=click.Path(path_type=pathlib.Path))
@click.option(
    "--rerun",
    "count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also run N random jobs again and compare.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Chooses the jobs of --rerun.  [default: a new one each time]",
)
def command(file: pathlib.Path, count: int | None, seed: int | None) -> int:
    """Check FILE, made by `bell-bench submit`: schema, hashes, completeness, every figure.

    Test labels are made again from the seeds and all figures are recomputed from the predictions.
    Nothing is unpacked, and no code from FILE is run; `--rerun` runs the installed algorithms that
    it names. Exit code 0: sound; 1: not sound, each mismatch is printed; 2: it cannot be read, or
    cannot be checked here.
    """
    from bell_bench.records.packed import Submission
    from bell_bench_submissions.check import check

    submission = Submission.read(file)
    report = check(submission, watch=watched("checking jobs"))
    click.echo(report)
    code = 1 if report.faults else 2 if report.unchecked else 0
    if count is None:
        return code
    if code:
        click.echo("no job was run again: that proves nothing until the above is mended")
        return code
    return run_again(submission, report, count, seed)


def run_again(submission: Submission, report: Report, count: int, seed: int | None) -> int:
    """Run some jobs again, print how they compare, and return the exit code."""
    from bell_bench_submissions.rerun import draw_seed, rerun

    chosen = draw_seed() if seed is None else seed
    click.echo(f"running {count} jobs again, chosen by --seed {chosen}")
    result = rerun(submission, report, count, chosen)
    for line in result.unable:
        click.echo(f"cannot be run again here: {line}")
    for line in result.agreed:
        click.echo(line)
    for line in result.faults:
        click.echo(f"mismatch: {line}")
    if result.faults:
        click.echo(f"NOT sound: {len(result.faults)} mismatches")
        return 1
    click.echo(f"{len(result.agreed)} of {count} jobs were run again, and agree")
    return 0 if result.agreed else 2
