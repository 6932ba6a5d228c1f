"""A stream as a picture: per task an image of every label."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np

from bell_bench.pictures import save_picture
from bell_bench.suites.ctrl.architecture import SIDE
from bell_bench.suites.ctrl.streams import CLASSES, SIZES

if TYPE_CHECKING:
    from bell_bench.suites.ctrl.suite import CtrlSequence

MOST_TASKS = 20
PITCH = SIDE + 4


def draw_stream(sequence: CtrlSequence, file: pathlib.Path) -> None:
    """One row per task (the first 20 of a long stream): a training image of each label."""
    from matplotlib.figure import Figure

    count = min(len(sequence), MOST_TASKS)
    figure = Figure(figsize=(9, 0.75 * count + 0.5), layout="constrained")
    axes = figure.subplots(count, 1, squeeze=False)[:, 0]
    figure.suptitle(f"{sequence.name}, seed {sequence.seed} ({sequence.scale.name}, "
                    f"{sequence.data})")  # fmt: skip
    for position in range(count):
        _draw_task(axes[position], sequence, position)
    save_picture(figure, file, dpi=110, bbox_inches="tight")


def _draw_task(axis: Any, sequence: CtrlSequence, position: int) -> None:
    place, train = sequence.places[position], sequence.problem(position).train
    strip = np.full((SIDE, CLASSES * PITCH, 3), 255, dtype=np.uint8)
    for label in range(len(place.classes)):
        image = train.images[int(np.argmax(train.labels == label))]
        strip[:, label * PITCH : label * PITCH + SIDE] = image
    axis.imshow(strip)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_frame_on(False)
    title = f"{position + 1}  {SIZES[place.size]} {len(train)}\n{place.name}"
    axis.set_ylabel(title, rotation=0, ha="right", va="center", fontsize=8)
