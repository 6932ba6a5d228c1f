"""Figures of the ablations, from the rows of their CSV files: values by realisation or by seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bell_bench_leaderboard.bootstrap import Values

ABLATIONS: Mapping[str, Mapping[str, str]] = {
    "density": {"position": "average position of the true domain"},
    "nt-search": {
        "best": "best accuracy found",
        "end": "best accuracy at its end",
        "anytime": "best accuracy, mean over the paths evaluated",
        "paths": "paths until it stopped",
        "paths_share": "share of all paths until it stopped",
    },
}
"""The ablations, and the figures that a claim may be about."""
COUNTED = "best"
"""The figure that is measured after a given number of paths."""

Row = Mapping[str, Any]


def ablation_values(
    ablation: str, rows: Sequence[Row], figure: str, method: str, place: str
) -> Values | None:
    """Return the values of a method, one per seed (density) or per realisation; None if it has
    none.

    ``place`` is the N of density, or the number of paths evaluated; empty where it has no meaning.
    """
    own = [row for row in rows if row["method"] == method]
    if ablation == "density":
        found = {int(row["seed"]): float(row["average_position"])
                 for row in own if str(row["N"]) == place}  # fmt: skip
    else:
        found = _searches(own, figure, place, most=_path_count(rows))
    return np.array([found[unit] for unit in sorted(found)]) if found else None


def _searches(rows: Iterable[Row], figure: str, place: str, *, most: int) -> dict[int, float]:
    """Return for each realisation the mean over seeds."""
    runs: dict[tuple[int, int], list[float]] = {}
    for row in sorted(rows, key=lambda row: int(row["paths"])):
        run = runs.setdefault((int(row["realisation"]), int(row["seed"])), [])
        run.append(100 * float(row["best_accuracy"]))
    found: dict[int, list[float]] = {}
    for (realisation, _), best in runs.items():
        if figure == COUNTED and int(place) > most:
            return {}
        found.setdefault(realisation, []).append(_figure(figure, best, place, most))
    return {realisation: float(np.mean(values)) for realisation, values in found.items()}


def _figure(figure: str, best: Sequence[float], place: str, most: int) -> float:
    """Return the figure of one search; a search that has stopped keeps the best that it found."""
    if figure == COUNTED:
        return best[min(int(place), len(best)) - 1]
    if figure == "anytime":
        return float(np.mean([*best, *[best[-1]] * (most - len(best))]))
    return {"end": best[-1], "paths": float(len(best)), "paths_share": len(best) / most}[figure]


def _path_count(rows: Iterable[Row]) -> int:
    """Return how many paths there are: as many as the search that never stops early evaluates."""
    return max((int(row["paths"]) for row in rows), default=0)
