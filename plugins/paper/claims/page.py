"""The reproduction as one HTML file, built in the same way as the leaderboard's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bell_bench_leaderboard.grids import Grid
from bell_bench_leaderboard.page.assemble import assembled
from bell_bench_paper.claims.judging import VERDICTS

SCRIPTS = ("scripts/elements.js", "scripts/table.js", "scripts/claims.js")


def make_claims_page(
    claims: Sequence[Mapping[str, Any]], tables: Sequence[Grid], facts: Mapping[str, str]
) -> str:
    """Return a page of claims that can be filtered and opened, with the tables below them."""
    content = {
        "claims": claims,
        "verdicts": VERDICTS,
        "facts": dict(facts),
        "tables": [_table(grid) for grid in tables],
    }
    return assembled("claims.html", SCRIPTS, content)


def _table(grid: Grid) -> dict[str, Any]:
    return {
        "title": grid.title,
        "names": grid.names,
        "header": list(grid.header),
        "rows": [[[cell.text, cell.low, cell.high] for cell in row] for row in grid.rows],
        "notes": list(grid.notes),
    }
