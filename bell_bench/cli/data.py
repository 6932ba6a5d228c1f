"""``bell-bench data``: which images are here, and how to get the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bell_bench.cli.output import echo_json
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.folders import data_folder
from bell_bench.text import table
from bell_bench.units import format_size

if TYPE_CHECKING:
    from bell_bench.data.download import Progress


@click.group("data")
def command() -> None:
    """Show, fetch, check and import images."""


@command.command("list")
@click.option("--source", default="images", show_default=True, help="images, glyphs or a plugin's.")
@click.option("--json", "as_json", is_flag=True, help="A list of domains.")
def list_domains(source: str, as_json: bool) -> None:
    """Show each domain: present, partial or missing, its size, licence and source."""
    from bell_bench.data.status import statuses

    rows = statuses(source)
    if as_json:
        echo_json([asdict(row) for row in rows])
        return
    headers = ("domain", "status", "source", "size", "licence", "")
    cells = [
        (r.name, r.status, r.source, format_size(r.bytes) if r.bytes else None, r.licence, r.detail)
        for r in rows
    ]
    click.echo(table(cells, headers, indent=0))
    if source == "images":
        click.echo(f"\nimages are kept in {data_folder()} (BELL_BENCH_DATA)")


@command.command("download")
@click.argument("names", nargs=-1)
@click.option("--mirror", help="An https address laid out like the data folder, tried first.")
def download(names: tuple[str, ...], mirror: str | None) -> None:
    """Fetch the official images of the domains NAMES, or of BELL's nine.

    A download that broke off goes on where it stopped; every file is checked against its MD5.
    """
    from bell_bench.data.declared import chosen_collections
    from bell_bench.data.download import fetch
    from bell_bench.suites.bell.domains import DOMAINS

    for collection in chosen_collections(names or DOMAINS):
        with _progress_bars() as progress:
            fetched = fetch(collection, progress, mirror)
        told = f"{len(fetched)} files fetched and checked" if fetched else "already here"
        click.echo(f"{collection.title}: {told} ({collection.licence}, {collection.homepage})")


@command.command("verify")
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Re-check the files that are here, of the domains NAMES or of all."""
    from bell_bench.data.verify import verify as check

    verdicts = check(names)
    for verdict in verdicts:
        click.echo(f"{'ok     ' if verdict.ok else 'corrupt'}  {verdict.file}: {verdict.detail}")
    if not verdicts:
        click.echo("no files to check; `bell-bench data list` shows what is here")
    if bad := [verdict.file for verdict in verdicts if not verdict.ok]:
        raise BellBenchError(f"{len(bad)} of {len(verdicts)} files are corrupt: {', '.join(bad)}")


@command.command("import")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--classes",
    help="Labels to use, such as 0,1,2,4,5,6,7,8 (default: the first 8, all in colour).",
)
def import_images(name: str, file: Path, classes: str | None) -> None:
    """Check the images in FILE.npz and import them as domain NAME.

    FILE holds train_images and test_images of uint8, grey (n, 28, 28) or colour (n, 32, 32, 3),
    train_labels and test_labels. Under the name of an official domain, they replace its images.
    Images are made grey for BELL, and coloured for a dataset of CTrL, such as cifar10.
    """
    from bell_bench.data.declared import official_domains
    from bell_bench.data.imported import import_file

    path = import_file(name, file, _labels(classes))
    click.echo(f"{name}: imported to {path}")
    if official := official_domains().get(name):
        click.echo(
            f"{name} now means these images, not those of {official.collection.title}; results on "
            f"it are not the published benchmark's. Delete {path} to undo."
        )


def _labels(classes: str | None) -> list[int] | None:
    if classes is None:
        return None
    try:
        return [int(label) for label in classes.split(",")]
    except ValueError:
        raise UsageError(f"--classes {classes!r} is not a list of labels such as 0,1,2") from None


@contextmanager
def _progress_bars() -> Iterator[Progress]:
    """Yield a function that shows one bar per file if standard error is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, TransferSpeedColumn(), console=console, disable=not console.is_terminal
    ) as bars:
        tasks = {}

        def progress(name: str, have: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name)
            bars.update(tasks[name], completed=have, total=total)

        yield progress
