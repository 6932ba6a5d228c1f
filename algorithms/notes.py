"""How ``bell-bench show`` tells what the built-in algorithms noted, and what that takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bell_bench import table

MOST = 5
"""Candidates told of a choice in full: the best so many."""
FEW = 3
"""The same in short."""


def tell_neighbours(note: list[dict[str, Any]], full: bool) -> str:
    """Return the earlier solutions in the order of MNTDP-D's nearest neighbours."""
    most = MOST if full else FEW
    ranked = sorted(note, key=by_number("accuracy"), reverse=True)
    rows = [
        (
            "*" if place == 0 else "",
            row["problem"],
            " ".join(row["modules"]),
            percent(row["accuracy"]),
        )
        for place, row in enumerate(ranked[:most])
    ]
    if not rows:
        return "  nearest neighbours: no earlier solution’s first modules fit"
    title = "  nearest neighbours in the features of earlier solutions (* nearest)"
    headers = ("", "problem", "modules", "accuracy %")
    return joined(title, grouped([(rows, len(ranked) - len(rows))], headers))


def grouped(groups: Sequence[tuple[list[tuple[Any, ...]], int]], headers: Sequence[str]) -> str:
    """One table of several groups of rows; after each, how many more were left out.

    The last column must be a short one, so that it never wraps: a row is a line.
    """
    rows = [row for group, _ in groups for row in group]
    if not rows:
        return ""
    lines = iter(table(rows, headers, indent=4).splitlines())
    told = [next(lines)]
    for group, more in groups:
        told += [next(lines) for _ in group]
        told += [f"    … and {more} more"] * bool(more)
    return "\n".join(told)


def joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def by_number(key: str) -> Callable[[dict[str, Any]], float]:
    """A sort key for rows whose number may be missing, as JSON has no infinity."""

    def number(row: dict[str, Any]) -> float:
        value = row.get(key)
        return float("-inf") if value is None else float(value)

    return number


def percent(accuracy: float | None) -> str:
    return decimals(accuracy and 100 * accuracy, 2)


def decimals(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: no -0.0


def significant(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}g}"
