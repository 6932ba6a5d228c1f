"""``bell-bench new-algorithm``: a distribution with an algorithm that runs, to start from."""

from __future__ import annotations

import pathlib

import click

from bell_bench_authors.templates import KINDS, LICENCES, write_distribution


@click.command("new-algorithm")
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="modular",
    show_default=True,
    help="; ".join(f"{kind}: {what}" for kind, what in KINDS.items()) + ".",
)
@click.option(
    "--licence",
    "--license",
    "licence",
    type=click.Choice(LICENCES, case_sensitive=False),
    default="MIT",
    show_default=True,
    help="By its SPDX name, in any case; none: choose later.",
)
@click.option("--author", help="Whose it is.  [default: git's user.name]")
def command(name: str, kind: str, licence: str, author: str | None) -> None:
    """Write a distribution with algorithm NAME into the folder NAME: it runs at once."""
    folder = write_distribution(pathlib.Path(name), kind=kind, licence=licence, author=author)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        click.echo(f"wrote {file}")
    click.echo(
        f"\nnext:\n  pip install -e {folder}\n  bell-bench check {folder.name}\n"
        f"  bell-bench evaluate --algo {folder.name} --sequence S_few"
    )
