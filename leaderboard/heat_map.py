"""A picture of the leaderboard: accuracy and transfer, sequences by algorithms."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.pictures import save_picture
from bell_bench_leaderboard.boards import Board, boards

Row = Mapping[str, Any]
PANELS = (
    ("A", "A: average accuracy, %", "viridis"),
    ("Tr_last", "Tr⁻¹: last problem against SA", "PuOr"),
)


def draw_leaderboard(rows: Iterable[Row], file: pathlib.Path) -> None:
    """Draw two heat maps of one setting's means over realisations. A cell with a job that is
    missing or not done stays empty and names the status."""
    from matplotlib.figure import Figure

    (board,) = boards(rows)
    sequences, algorithms = board.sequences, board.algorithms
    size = (2.6 + 2 * (0.75 * len(algorithms) + 1.2), 1.4 + 0.42 * len(sequences))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, len(PANELS), sharey=True, squeeze=False)[0]
    for axis, (column, title, colours) in zip(axes, PANELS, strict=True):
        values, texts = _cells(board, column)
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
    save_picture(figure, file, dpi=130)


def _cells(board: Board, column: str) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    values = np.full((len(board.sequences), len(board.algorithms)), np.nan)
    texts = np.full(values.shape, "", dtype=object)
    sign = "+" if column == "Tr_last" else ""
    for i, sequence in enumerate(board.sequences):
        for j, name in enumerate(board.algorithms):
            found = board.values(column, name, sequence)
            if found is None:
                texts[i, j] = board.cells[sequence, name].status.replace(", ", "\n")
            else:
                values[i, j] = found.mean()
                texts[i, j] = f"{values[i, j]:{sign}.1f}"
    return values, texts


def _dark(colour: tuple[float, float, float, float]) -> bool:
    red, green, blue, _ = colour
    return 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
