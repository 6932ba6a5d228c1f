"""``bell-bench describe NAME``: all about an algorithm, a sequence, a suite, a preset, a domain."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import click

from bell_bench.cli.descriptions import (
    Description,
    Wish,
    describe_algorithm,
    describe_domain,
    describe_preset,
    describe_sequence,
    describe_suite,
    domain_names,
)
from bell_bench.cli.names import complete, each_suite
from bell_bench.cli.output import echo_json
from bell_bench.errors import UsageError, unknown
from bell_bench.plugins import FAMILIES, registry


@click.command("describe")
@click.argument(
    "name", shell_complete=complete("algorithms", "sequences", "suites", "scales", "protocols")
)
@click.option("--suite", shell_complete=complete("suites"), help="Only what is of this suite.")
@click.option("--realisation", type=int, help="Of a sequence, from 0; default 0.")
@click.option("--seed", type=int, help="Of a sequence, instead of a realisation.")
@click.option("--scale", shell_complete=complete("scales"), help="Of a sequence.")
@click.option("--protocol", shell_complete=complete("protocols"), help="Of a sequence.")
@click.option("--data", shell_complete=complete("sources"), help="Of a sequence or domain.")
@click.option("--json", "as_json", is_flag=True, help="An object; a list if NAME means several.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, writable=True, path_type=pathlib.Path),
    help="Draw a sequence or domain to this PNG file.",
)
def command(name: str, as_json: bool, picture: pathlib.Path | None, **wishes: Any) -> None:
    """Tell all about NAME: an algorithm, a sequence, a suite, a scale, a protocol or a domain.

    A sequence is shown problem by problem, as one of its realisations; no image is loaded.
    """
    found = find(name, Wish(**wishes))
    if picture is not None:
        _draw(name, found, picture)
    if as_json:
        facts = [description.facts for description in found]
        echo_json(facts if len(facts) > 1 else facts[0])
    else:
        click.echo("\n\n".join(description.text for description in found))


def find(name: str, wish: Wish) -> list[Description]:
    """All that the name stands for, at least one thing."""
    if wish.seed is not None and wish.realisation is not None:
        raise UsageError("give either --seed or --realisation")
    found = list(_bearers(name, wish))
    if not found:
        raise unknown("name", name, _known(), "(see `bell-bench list`)")
    return found


def _bearers(name: str, wish: Wish) -> Iterator[Description]:
    """Everything that bears the name."""
    distribution, _, bare = name.rpartition(":")
    algorithms = {provided.spec.name for provided in registry().algorithms}
    if distribution.endswith(".py") or distribution in FAMILIES or bare in algorithms:
        yield describe_algorithm(registry().algorithm(name))
    for provided, suite in each_suite(wish.suite):
        if name in (provided.spec.name, provided.qualified):
            yield describe_suite(provided, suite)
        if name in suite.sequences:
            yield describe_sequence(suite, name, wish)
        for kind in ("scale", "protocol"):
            presets = getattr(suite, f"{kind}s")
            if name in presets:
                yield describe_preset(kind, name, suite.name, presets[name])
    if name in domain_names():
        yield describe_domain(name, wish)


def _known() -> Iterator[str]:
    yield from (provided.spec.name for provided in registry().algorithms)
    for provided, suite in each_suite():
        yield provided.spec.name
        for names in (suite.sequences, suite.scales, suite.protocols):
            yield from names
    yield from domain_names()


def _draw(name: str, found: list[Description], picture: pathlib.Path) -> None:
    draw = next((description.draw for description in found if description.draw), None)
    if draw is None:
        raise UsageError(f"there is no picture of {name}; only of sequences and domains")
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw(picture)
    click.echo(f"wrote {picture}", err=True)
