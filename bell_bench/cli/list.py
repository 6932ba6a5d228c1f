"""``bell-bench list``: what there is, by name."""

from __future__ import annotations

import warnings

import click

from bell_bench.cli.names import complete
from bell_bench.cli.output import echo_json
from bell_bench.descriptions.listings import Row, listed
from bell_bench.text import brief, table


@click.command("list")
@click.argument("kind", required=False, shell_complete=complete("kinds"))
@click.option("--suite", shell_complete=complete("suites"), help="Only things of this suite.")
@click.option("--avalanche", is_flag=True, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="An object of lists, by kind.")
def command(kind: str | None, suite: str | None, avalanche: bool, as_json: bool) -> None:
    """List algorithms, families of these, sequences, suites, data, scales, protocols and
    executors, or one KIND of them. The name of a family, such as avalanche, lists its algorithms.
    """
    if avalanche:
        warnings.warn("list --avalanche is written list avalanche now", UserWarning, stacklevel=1)
        kind = "avalanche"
    rows = {name: listed(name, suite) for name in ([kind] if kind else COLUMNS)}
    if as_json:
        echo_json(rows)
        return
    for name, found in rows.items():
        columns = COLUMNS.get(name, MEMBERS)[1 if kind else 0]
        cells = [[_show(row, column) for column in columns] for row in _merged(found, columns)]
        click.echo(f"{name}:" if cells else f"{name}: none")
        if cells:
            click.echo(table(cells, columns if kind else ()))
        if not kind:
            click.echo()
    if not kind:
        click.echo("`bell-bench list KIND` tells more, `bell-bench describe NAME` all.")


def _merged(rows: list[Row], columns: tuple[str, ...]) -> list[Row]:
    """Merge rows that differ only in their suite into one row with all their suites."""
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


COLUMNS = {
    "algorithms": (("name", "summary"), ("name", "distribution", "summary")),
    "families": (("name", "summary"), ("name", "distribution", "summary")),
    "sequences": (
        ("name", "length", "tests", "suite"),
        ("suite", "name", "length", "tests", "summary"),
    ),
    "suites": (("name", "summary"), ("name", "version", "sequences", "summary")),
    "data": (("name", "summary", "suite"), ("kind", "suite", "name", "summary")),
    "scales": (("name", "summary", "suite"), ("suite", "name", "summary")),
    "protocols": (("name", "summary", "suite"), ("suite", "name", "summary")),
    "executors": (("name", "summary"), ("name", "distribution", "summary")),
}
"""The columns of each kind: when all kinds are listed, and when it is listed alone."""
MEMBERS = (("name", "says"), ("name", "options", "says"))
"""The columns of a family's algorithms, likewise."""
