"""Contact sheets: what the images of a domain look like."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bell_bench.data.domain import Domain, Images, Labels
from bell_bench.pictures import save_picture

_GAP = 2
_GAP_GREY = 128


def draw_domain(domain: Domain, data: str, file: str | Path) -> None:
    """Write a picture of a domain: a line for each class, in columns where there are many."""
    from matplotlib.figure import Figure

    columns = 1 if domain.classes <= 10 else 3 if domain.classes <= 50 else 6
    samples = 12 // columns
    lines = -(-domain.classes // columns)
    pitch = domain.train_images.shape[1] + _GAP
    height = lines * (8 / columns - 0.3) / samples + 0.4
    figure = Figure(figsize=(8, height), dpi=75, layout="constrained")
    title = f"{domain.name} ({data}): {samples} training images of each class"
    figure.suptitle(title, fontsize=10)
    for column, axes in enumerate(figure.subplots(1, columns, squeeze=False)[0]):
        labels = range(column * lines, min((column + 1) * lines, domain.classes))
        sheet = contact_sheet(domain.train_images, domain.train_labels, labels, samples)
        axes.imshow(sheet, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        axes.set_yticks((np.arange(len(labels)) + 0.5) * pitch, [str(c) for c in labels])
        axes.set_xticks([])
        axes.set_anchor("N")
        axes.tick_params(length=0, labelsize=7)
        for spine in axes.spines.values():
            spine.set_visible(False)
    save_picture(figure, file)


def contact_sheet(images: Images, labels: Labels, classes: range, samples: int) -> Images:
    """Return one row per class, ``samples`` images each, as one picture."""
    side, colours = images.shape[1], images.shape[3:]
    pitch = side + _GAP
    shape = (len(classes) * pitch + _GAP, samples * pitch + _GAP, *colours)
    sheet = np.full(shape, _GAP_GREY, dtype=np.uint8)
    for line, label in enumerate(classes):
        for column, row in enumerate(np.flatnonzero(labels == label)[:samples]):
            top, left = line * pitch + _GAP, column * pitch + _GAP
            sheet[top : top + side, left : left + side] = images[row]
    return sheet
