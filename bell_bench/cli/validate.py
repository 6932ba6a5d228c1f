"""``bell-bench validate``: whether a submission's figures follow from its predictions."""

from __future__ import annotations

import pathlib
import secrets
from collections import Counter
from typing import TYPE_CHECKING

import click

from bell_bench.cli.watching import watched

if TYPE_CHECKING:
    from bell_bench_leaderboard.submission import Report, Submission


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
    Nothing is unpacked, and nothing that FILE names is run. Exit code 0: sound; 1: not sound, each
    mismatch is told; 2: it cannot be read, or cannot be checked here.
    """
    from bell_bench_leaderboard.submission import Submission, check

    submission = Submission.read(file)
    report = check(submission, watch=watched("checking jobs"))
    tell(submission, report)
    code = 1 if report.faults else 2 if report.unchecked else 0
    if count is None:
        return code
    if code:
        click.echo("nothing was run again: it would prove nothing while the above stands")
        return code
    return run_again(submission, report, count, seed)


def tell(submission: Submission, report: Report) -> None:
    """The report, for people; text from the file has been made harmless."""
    from bell_bench_leaderboard.submission.refused import shown

    manifest = submission.manifest
    counts = Counter(report.statuses.values())
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    by = f", submitted by {shown(manifest['name'])}" if manifest["name"] else ""
    click.echo(f"{len(submission.jobs)} jobs ({statuses or 'none readable'}){by}")
    for line in report.unchecked:
        click.echo(f"cannot be checked here: {line}")
    for line in report.remarks:
        click.echo(f"remark: {line}")
    for line in report.faults:
        click.echo(f"mismatch: {line}")
    if report.faults:
        click.echo(f"NOT sound: {len(report.faults)} mismatches")
        return
    if report.unchecked:
        click.echo("neither sound nor unsound: not everything could be checked here")
        return
    click.echo(
        "sound: hashes, schema and completeness are right; problems and test labels are those made "
        "again from the seeds; A, F, Tr⁻¹, backward transfer, matrices and accuracies are those "
        "recomputed from the predictions"
    )
    click.echo(
        "not checked: seconds and memory, which nobody can recompute; FLOPs, stored bytes and that "
        "the named algorithm made the predictions, which only --rerun can"
    )


def run_again(submission: Submission, report: Report, count: int, seed: int | None) -> int:
    """Rerun some jobs; the exit code."""
    from bell_bench_leaderboard.submission.rerun import rerun

    chosen = secrets.randbelow(2**32) if seed is None else seed
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
