"""``bell-bench describe NAME``: all about an algorithm, a sequence, a suite, a preset, a domain."""

from __future__ import annotations

import pathlib
from typing import Any

import click

from bell_bench.api import describe
from bell_bench.cli.names import complete
from bell_bench.cli.output import echo_json
from bell_bench.errors import UsageError

UNNAMED = "NAME.png"
"""The default file name of a picture: NAME is replaced by the name that is described."""


@click.command("describe")
@click.argument(
    "name", shell_complete=complete("algorithms", "sequences", "suites", "scales", "protocols")
)
@click.option("--suite", shell_complete=complete("suites"), help="Only things of this suite.")
@click.option("--realisation", type=int, help="Of a sequence, from 0; default 0.")
@click.option("--seed", type=int, help="Of a sequence, instead of a realisation.")
@click.option("--scale", shell_complete=complete("scales"), help="Of a sequence.")
@click.option("--protocol", shell_complete=complete("protocols"), help="Of a sequence.")
@click.option("--data", shell_complete=complete("sources"), help="Of a sequence or domain.")
@click.option("--json", "as_json", is_flag=True, help="An object; a list if NAME means several.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, writable=True, path_type=pathlib.Path),
    is_flag=False,
    flag_value=UNNAMED,
    metavar="[FILE]",
    help=f"Draw a sequence or domain to this PNG file, by default {UNNAMED}.",
)
def command(name: str, as_json: bool, picture: pathlib.Path | None, **chosen: Any) -> None:
    """Describe NAME: an algorithm, a sequence, a suite, a scale, a protocol or a domain.

    A sequence is shown problem by problem, as one of its realisations; no image is loaded.
    """
    found = describe(name, **chosen)
    if picture is not None:
        if found.draw is None:
            raise UsageError(f"there is no picture of {name}; only of sequences and domains")
        file = pathlib.Path(f"{name}.png") if str(picture) == UNNAMED else picture
        found.draw(file)
        click.echo(f"wrote {file}", err=True)
    if as_json:
        echo_json(found.facts.get("meanings", found.facts))
    else:
        click.echo(found)
