"""A leaderboard to look at: accuracy and transfer, sequences by algorithms."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench_leaderboard.tables import labels

Row = Mapping[str, Any]
PANELS = (
    ("A", "A: average accuracy, %", "viridis"),
    ("Tr_last", "Tr⁻¹: last problem against SA", "PuOr"),
)


def draw_leaderboard(rows: Iterable[Row], file: pathlib.Path) -> None:
    """Two heat maps, means over realisations and seeds; a cell with a job that is not done stays
    empty and names the status."""
    from matplotlib.figure import Figure

    found = list(rows)
    sequences = list(dict.fromkeys(row["sequence"] for row in found))
    names = labels(found)
    found = [{**row, "algorithm": name} for row, name in zip(found, names, strict=True)]
    algorithms = list(dict.fromkeys(names))
    size = (2.6 + 2 * (0.75 * len(algorithms) + 1.2), 1.4 + 0.42 * len(sequences))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, len(PANELS), sharey=True, squeeze=False)[0]
    for axis, (column, title, colours) in zip(axes, PANELS, strict=True):
        values, texts = _cells(found, sequences, algorithms, column)
        reach = np.nanmax(np.abs(values), initial=1.0)
        limits = {"vmin": -reach, "vmax": reach} if column == "Tr_last" else {}
        image = axis.imshow(values, cmap=colours, aspect="auto", **limits)
        axis.set_xticks(range(len(algorithms)), algorithms, rotation=30, ha="right")
        axis.set_yticks(range(len(sequences)), sequences)
        axis.set_title(title, fontsize=10)
        for (i, j), text in np.ndenumerate(texts):
            dark = not math.isnan(values[i, j]) and _dark(image.cmap(image.norm(values[i, j])))
            axis.text(j, i, text, ha="center", va="center", fontsize=8,
                      color="white" if dark else "black")  # fmt: skip
    figure.savefig(file, dpi=130)


def _cells(
    rows: list[Row], sequences: list[str], algorithms: list[str], column: str
) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    values = np.full((len(sequences), len(algorithms)), np.nan)
    texts = np.full(values.shape, "", dtype=object)
    sign = "+" if column == "Tr_last" else ""
    for i, sequence in enumerate(sequences):
        for j, algorithm in enumerate(algorithms):
            cell = [r for r in rows if (r["sequence"], r["algorithm"]) == (sequence, algorithm)]
            bad = sorted({row["status"] for row in cell} - {"done"})
            if bad:
                texts[i, j] = "\n".join(bad)
            elif cell and all(row[column] is not None for row in cell):
                values[i, j] = np.mean([row[column] for row in cell])
                texts[i, j] = f"{values[i, j]:{sign}.1f}"
    return values, texts


def _dark(colour: tuple[float, float, float, float]) -> bool:
    red, green, blue, _ = colour
    return 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
