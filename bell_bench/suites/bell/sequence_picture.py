"""A sequence as a picture: per problem its pattern and a few inputs with their labels."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.pictures import save_picture
from bell_bench.suites.bell.architecture import PIXELS
from bell_bench.suites.bell.labellings import SIDE
from bell_bench.suites.bell.patterns import KINDS

if TYPE_CHECKING:
    from bell_bench.suites.bell.suite import BellSequence

SAMPLES = 8
MOST_PROBLEMS = 20
NEGATIVE, POSITIVE, UNSEEN = "#d9483b", "#3a9d5d", "#dddddd"
COLOURS = (NEGATIVE, POSITIVE, UNSEEN)


def draw_sequence(sequence: BellSequence, file: pathlib.Path) -> None:
    """One row per problem (the first 20 of a long sequence): the grid of labels, greyed where no
    training input lies, then sample inputs, framed by label."""
    from matplotlib.figure import Figure

    count = min(len(sequence), MOST_PROBLEMS)
    figure = Figure(figsize=(14, 1.25 * count + 0.6), layout="constrained")
    axes = figure.subplots(count, SAMPLES + 1, squeeze=False)
    figure.suptitle(f"{sequence.name}, seed {sequence.seed} ({sequence.protocol.name}, "
                    f"{sequence.scale.name}, {sequence.data})")  # fmt: skip
    for position in range(count):
        _draw_grid(axes[position, 0], sequence, position)
        _draw_samples(axes[position, 1:], sequence, position)
    save_picture(figure, file, dpi=110)


def _draw_grid(axis: Any, sequence: BellSequence, position: int) -> None:
    place = sequence.places[position]
    axis.set_xticks([])
    axis.set_yticks([])
    lines = [f"{position + 1}  {KINDS[place.kind]}", *place.name.split("/")]
    lines += ["as 784 numbers"] if place.space == "vector" else []
    axis.set_ylabel("\n".join(lines), rotation=0, ha="right", va="center", fontsize=8)
    if place.labelling is None:
        axis.set_axis_off()
        axis.text(0.5, 0.5, "8 classes", ha="center", va="center", fontsize=8)
        axis.text(-0.1, 0.5, f"{position + 1}  {KINDS[place.kind]}\n{place.domain}", ha="right",
                  va="center", fontsize=8, transform=axis.transAxes)  # fmt: skip
        return
    from matplotlib.colors import ListedColormap

    seen = sequence.shown(position)
    cells = np.full(SIDE * SIDE, COLOURS.index(UNSEEN))
    cells[seen] = place.labelling.grid.reshape(-1)[seen]
    axis.imshow(cells.reshape(SIDE, SIDE), cmap=ListedColormap(COLOURS), vmin=0, vmax=2)


def _draw_samples(axes: NDArray[Any], sequence: BellSequence, position: int) -> None:
    train = sequence.problem(position).train
    binary = sequence.places[position].labelling is not None
    for axis, row, label in zip(axes, train.index, train.labels, strict=False):
        images = train.images[row].reshape(-1, PIXELS, PIXELS)
        axis.imshow(np.concatenate(list(images), axis=1), cmap="gray", vmin=0, vmax=255)
        axis.set_xticks([])
        axis.set_yticks([])
        for spine in axis.spines.values():
            spine.set_color((NEGATIVE, POSITIVE)[int(label)] if binary else "black")
            spine.set_linewidth(2.5)
        if not binary:
            axis.set_title(f"class {label + 1} of {SIDE}", fontsize=7, pad=2)
