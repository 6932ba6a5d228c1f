"""Drawing a task's images: per class, so that the order of labels changes none of them."""

from __future__ import annotations

import numpy as np

from bell_bench.data.domain import Domain, Images, Labels
from bell_bench.errors import BellBenchError
from bell_bench.problem import Split
from bell_bench.suites.bell.draw import Ints, random_state
from bell_bench.suites.ctrl.rainbow import rainbow
from bell_bench.suites.ctrl.streams import StreamPlace

WHITE = 255.0
"""What pixels are divided by."""


def draw_split(place: StreamPlace, domain: Domain, part: str, per_class: int, seed: int) -> Split:
    """A task's training, validation or test set; of test images, all there are if they are fewer.

    It follows the stream's seed, the dataset and how often that came before: streams of one seed
    share tasks, and with them evaluations. All tasks of a dataset have its test images in common.
    """
    pool: Images = getattr(domain, f"{part}_images")
    labels: Labels = getattr(domain, f"{part}_labels")
    occurrence = "any" if part == "test" else str(place.occurrence)
    names = ("ctrl", seed, place.domain, occurrence, part)
    chosen: list[Ints] = []
    for label in place.classes:
        found = np.flatnonzero(labels == label)
        if part != "test" and len(found) < per_class:
            raise BellBenchError(
                f"{place.name} needs {per_class} {part} images of class {label}, but the dataset "
                f"{place.domain} has {len(found)}: choose a smaller --scale, or import more"
            )
        chosen.append(random_state(*names, label).permutation(found)[:per_class])
    order = random_state(*names, "order").permutation(sum(map(len, chosen)))
    answers = np.repeat(np.arange(len(chosen)), [len(images) for images in chosen])
    images = pool[np.concatenate(chosen)[order]]
    return Split(
        rainbow(images, place.colour) if place.colour else np.ascontiguousarray(images),
        np.arange(len(images), dtype=np.int32)[:, None],
        0.0,
        WHITE,
        labels=answers[order].astype(np.int64),
    )
