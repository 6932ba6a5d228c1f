"""``bell-bench list``: what there is, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from bell_bench.cli.names import complete, each_suite
from bell_bench.cli.output import brief, echo_json, fields_of, table
from bell_bench.plugins import registry

Row = dict[str, Any]


@click.command("list")
@click.argument(
    "kind",
    required=False,
    type=click.Choice(["algorithms", "sequences", "suites", "data", "scales", "protocols"]),
)
@click.option("--suite", shell_complete=complete("suites"), help="Only what is of this suite.")
@click.option(
    "--avalanche", is_flag=True, help="Avalanche's strategies instead, and why some do not run."
)
@click.option("--json", "as_json", is_flag=True, help="An object of lists, by kind.")
def command(kind: str | None, suite: str | None, avalanche: bool, as_json: bool) -> None:
    """List algorithms, sequences, suites, data, scales and protocols, or one KIND of these."""
    if avalanche:
        kind = "avalanche"
    listings = {kind: {**LISTINGS, "avalanche": STRATEGIES}[kind]} if kind else LISTINGS
    rows = {name: listing.rows(suite) for name, listing in listings.items()}
    if as_json:
        echo_json(rows)
        return
    for name, listing in listings.items():
        columns = listing.full if kind else listing.short
        cells = [[_show(row, column) for column in columns] for row in _merged(rows[name], columns)]
        click.echo(f"{name}:" if cells else f"{name}: none")
        if cells:
            click.echo(table(cells, columns if kind else ()))
        if not kind:
            click.echo()
    if not kind:
        click.echo("`bell-bench list KIND` tells more, `bell-bench describe NAME` all.")


def _merged(rows: list[Row], columns: tuple[str, ...]) -> list[Row]:
    """Rows that differ in their suite alone as one row with all their suites."""
    found: dict[tuple[str, ...], Row] = {}
    for row in rows:
        key = tuple(str(row[column]) for column in columns if column != "suite")
        if key in found and row.get("suite"):
            row = {**row, "suite": f"{found[key]['suite']}, {row['suite']}"}
        found[key] = row
    return list(found.values())


def _show(row: Row, column: str) -> object:
    value = row[column]
    return brief(value) if isinstance(value, list | dict) else value


def _algorithms(suite: str | None) -> list[Row]:
    every = registry().algorithms
    names = [provided.spec.name for provided in every]
    if suite is not None:
        registry().suite(suite)
        suite = suite.rpartition(":")[2]
    return [
        {
            "name": p.spec.name if names.count(p.spec.name) == 1 else p.qualified,
            "summary": p.spec.summary,
            "paper": p.spec.paper,
            "suites": list(p.spec.suites),
            "options": sorted(p.spec.options),
            "distribution": p.distribution,
            "version": p.version,
        }
        for p in every
        if suite is None or not p.spec.suites or suite in p.spec.suites
    ]


def _strategies(only: str | None) -> list[Row]:
    from bell_bench.avalanche.catalogue import FAMILY, strategies

    return [
        {
            "name": f"{FAMILY}:{strategy.name}",
            "supported": not strategy.reason,
            "summary": strategy.summary,
            "reason": strategy.reason,
            "options": list(strategy.options),
            "says": f"no: {strategy.reason}" if strategy.reason else strategy.summary,
        }
        for strategy in sorted(strategies().values(), key=lambda row: bool(row.reason))
    ]


def _sequences(only: str | None) -> list[Row]:
    return [
        {
            "suite": provided.spec.name,
            "name": info.name,
            "length": info.length,
            "tests": info.tests,
            "summary": info.summary,
            "short": info.short,
        }
        for provided, suite in each_suite(only)
        for info in suite.sequences.values()
    ]


def _suites(only: str | None) -> list[Row]:
    return [
        {
            "name": provided.spec.name,
            "version": suite.version,
            "sequences": len(suite.sequences),
            "summary": provided.spec.summary,
            "distribution": provided.distribution,
            "distribution_version": provided.version,
        }
        for provided, suite in each_suite(only)
    ]


def _data(only: str | None) -> list[Row]:
    sources = [
        {"kind": "source", "suite": provided.spec.name, "name": name, "summary": summary}
        for provided, suite in each_suite(only)
        for name, summary in suite.sources.items()
    ]
    domains = [
        {"kind": "domain", "suite": None, "name": p.spec.name, "summary": p.spec.summary}
        for p in registry().domains
    ]
    return sources + domains


def _settings(attribute: str) -> Callable[[str | None], list[Row]]:
    def rows(only: str | None) -> list[Row]:
        return [
            {"suite": provided.spec.name, "name": name, "summary": summary, "settings": settings}
            for provided, suite in each_suite(only)
            for name, summary, settings in _summarised(getattr(suite, attribute))
        ]

    return rows


def _summarised(presets: Mapping[str, object]) -> Iterator[tuple[str, str, Row]]:
    """Each preset's name, its summary or how it differs from the default, and its settings."""
    default: Row = {}
    for name, preset in presets.items():
        settings = fields_of(preset)
        settings.pop("name", None)
        summary = settings.pop("summary", "")
        default = default or settings
        if not summary and settings is default:
            summary = "the default"
        elif not summary:
            changed = [key for key, value in settings.items() if default.get(key) != value]
            summary = f"differs from {next(iter(presets))} in {', '.join(changed)}"
        yield name, summary, settings


@dataclass(frozen=True)
class Listing:
    """How one kind is listed."""

    rows: Callable[[str | None], list[Row]]
    """Its rows, of all suites or of one."""
    short: tuple[str, ...]
    """The columns among other kinds."""
    full: tuple[str, ...]
    """The columns when asked for by itself."""


LISTINGS = {
    "algorithms": Listing(_algorithms, ("name", "summary"), ("name", "distribution", "summary")),
    "sequences": Listing(
        _sequences,
        ("name", "length", "tests", "suite"),
        ("suite", "name", "length", "tests", "summary"),
    ),
    "suites": Listing(_suites, ("name", "summary"), ("name", "version", "sequences", "summary")),
    "data": Listing(_data, ("name", "summary", "suite"), ("kind", "suite", "name", "summary")),
    "scales": Listing(
        _settings("scales"), ("name", "summary", "suite"), ("suite", "name", "summary")
    ),
    "protocols": Listing(
        _settings("protocols"), ("name", "summary", "suite"), ("suite", "name", "summary")
    ),
}
STRATEGIES = Listing(_strategies, ("name", "says"), ("name", "options", "says"))
