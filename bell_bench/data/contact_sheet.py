"""Contact sheets: what the images of a domain look like."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bell_bench.data.domain import CLASSES, SIDE, Domain, Images, Labels
from bell_bench.pictures import save_picture

SAMPLES = 16
_GAP = 2
_GAP_GREY = 128


def draw_domain(domain: Domain, data: str, file: str | Path) -> None:
    """Write a picture of a source's domain: 8 classes as rows, 16 training images of each."""
    from matplotlib.figure import Figure

    sheet = contact_sheet(domain.train_images, domain.train_labels, SAMPLES)
    figure = Figure(figsize=(8, 4.4), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(sheet, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    title = f"{domain.name} ({data}): {SAMPLES} training images of each class"
    axes.set_title(title, fontsize=10)
    axes.set_yticks((np.arange(CLASSES) + 0.5) * (SIDE + _GAP), [str(c) for c in range(CLASSES)])
    axes.set_ylabel("class")
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    save_picture(figure, file)


def contact_sheet(images: Images, labels: Labels, samples: int) -> Images:
    """One row per class, ``samples`` images each, as one array of grey levels."""
    pitch = SIDE + _GAP
    sheet = np.full((CLASSES * pitch + _GAP, samples * pitch + _GAP), _GAP_GREY, dtype=np.uint8)
    for label in range(CLASSES):
        for column, row in enumerate(np.flatnonzero(labels == label)[:samples]):
            top, left = label * pitch + _GAP, column * pitch + _GAP
            sheet[top : top + SIDE, left : left + SIDE] = images[row]
    return sheet
