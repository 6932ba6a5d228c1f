"""Contact sheets of colour datasets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bell_bench.data.colour.domain import SIDE, ColourImages, Pixels
from bell_bench.data.colour.loading import load
from bell_bench.pictures import save_picture

_GAP = 2
_GAP_GREY = 128


def draw_dataset(name: str, data: str, file: str | Path) -> None:
    """Write a picture of a dataset: a line for each class, in columns where there are many."""
    from matplotlib.figure import Figure

    domain = load(name, data)
    columns = 1 if domain.classes <= 10 else 3 if domain.classes <= 50 else 6
    samples = 12 // columns
    lines = -(-domain.classes // columns)
    height = lines * (8 / columns - 0.3) / samples + 0.4
    figure = Figure(figsize=(8, height), dpi=75, layout="constrained")
    figure.suptitle(f"{name} ({data}): {len(domain.train)} training images", fontsize=10)
    for column, axes in enumerate(figure.subplots(1, columns, squeeze=False)[0]):
        labels = range(column * lines, min((column + 1) * lines, domain.classes))
        axes.imshow(contact_sheet(domain.train, labels, samples), interpolation="nearest")
        axes.set_yticks((np.arange(len(labels)) + 0.5) * (SIDE + _GAP), [str(c) for c in labels])
        axes.set_xticks([])
        axes.set_anchor("N")
        axes.tick_params(length=0, labelsize=7)
        for spine in axes.spines.values():
            spine.set_visible(False)
    save_picture(figure, file)


def contact_sheet(pool: ColourImages, labels: range, samples: int) -> Pixels:
    """One row per class, ``samples`` images each, as one picture."""
    pitch = SIDE + _GAP
    shape = (len(labels) * pitch + _GAP, samples * pitch + _GAP, 3)
    sheet = np.full(shape, _GAP_GREY, dtype=np.uint8)
    for line, label in enumerate(labels):
        for column, row in enumerate(np.flatnonzero(pool.labels == label)[:samples]):
            top, left = line * pitch + _GAP, column * pitch + _GAP
            sheet[top : top + SIDE, left : left + SIDE] = pool.images[row]
    return sheet
