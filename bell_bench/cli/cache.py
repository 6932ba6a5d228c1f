"""``bell-bench cache``: show, check and remove stored path evaluations.

Reads file names, sizes and bytes; imports no torch.
"""

from __future__ import annotations

import json
import pathlib
import warnings

import click

from bell_bench.cli.progress import watched
from bell_bench.errors import BellBenchError
from bell_bench.modular.evaluations import (
    FOLDER,
    EvaluationStore,
    StoreWarning,
)
from bell_bench.units import format_size

_out = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    default=pathlib.Path("runs"),
    show_default=True,
    help="The folder of runs that the evaluations belong to.",
)


@click.group()
def command() -> None:
    """Stored path evaluations: how many, how large, whether sound.

    An evaluation is computed once and shared by all algorithms and runs of one folder. Removing
    any costs time, never a result.
    """


@command.command()
@_out
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(out: pathlib.Path, as_json: bool) -> None:
    """Show how many evaluations are stored, and how much of the limit they take."""
    store = EvaluationStore(out / FOLDER)
    if as_json:
        click.echo(json.dumps(store.info(), indent=1))
    else:
        click.echo(store)


@command.command()
@_out
def verify(out: pathlib.Path) -> int:
    """Check every evaluation against its hash, and drop the damaged ones (exit code 1 if there are
    any)."""
    store = EvaluationStore(out / FOLDER)
    sound, dropped, left = 0, 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)  # reported below
        for entry, good in store.verify(watched("checking evaluations")):
            if good:
                sound += 1
            elif entry.file.exists():
                left += 1
                click.echo(f"damaged, and cannot be dropped: {entry.file}")
            else:
                dropped += 1
                click.echo(f"damaged, dropped: {entry.file}")
    click.echo(f"{sound:,} sound, {dropped:,} damaged and dropped")
    if dropped or left:
        click.echo("What is damaged is computed again when it is next asked for.")
    return 1 if dropped or left else 0


@command.command()
@_out
@click.option("--older-than", metavar="AGE", help="Only those last used so long ago: 30d, 12h, 2w.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(out: pathlib.Path, older_than: str | None, yes: bool) -> None:
    """Remove stored evaluations. What needs them computes them again."""
    store = EvaluationStore(out / FOLDER)
    doomed = store.unused(older_than)
    size = format_size(sum(entry.bytes for entry in doomed))
    if doomed and not yes:
        click.confirm(
            f"Remove {len(doomed):,} evaluations ({size}) from {out / FOLDER}?", abort=True
        )
    count, freed = store.clear(older_than)
    click.echo(f"removed {count:,} evaluations, {format_size(freed)}")
    if left := sum(entry.file.exists() for entry in doomed):
        raise BellBenchError(f"{left:,} cannot be removed: may you write to {store.folder}?")
