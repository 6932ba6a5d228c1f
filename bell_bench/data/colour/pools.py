"""From the four arrays of a dataset to its train, validation and test pools."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bell_bench.data.arrays import (
    PARTS,
    Arrays,
    check_enough,
    check_parts,
    labels_of,
    order,
    select,
)
from bell_bench.data.colour.datasets import DATASETS
from bell_bench.data.colour.domain import SIDE
from bell_bench.data.colour.formatting import from_grey
from bell_bench.data.domain import SIDE as GREY_SIDE
from bell_bench.errors import UsageError

FEWEST_CLASSES = 10
"""A task has all classes of a dataset, or 10 of DTD's, or 5."""
ENOUGH = {"train": 10, "test": 5}
"""Fewest images per class: half of 10 are set aside, and the smallest tasks still find 5 and 3."""
CUT = 1
"""Part of every cache key of real images; changes when the way they are cut does."""


def check(arrays: Arrays, where: str, name: str, classes: Sequence[int] | None = None) -> Arrays:
    """The arrays as 32x32 RGB, labels counted from 0, or an error that says what is wrong."""
    check_parts(arrays, where, [(SIDE, SIDE, 3), (GREY_SIDE, GREY_SIDE)])
    chosen = _choose(arrays, where, name, classes)
    check_enough(arrays, where, chosen, ENOUGH)
    return formatted(select(arrays, chosen))


def formatted(arrays: Arrays) -> Arrays:
    """The same images as 32x32 RGB, grey ones enlarged; labels as they are."""
    return {
        part: from_grey(arrays[part]) if arrays[part].ndim == 3 else arrays[part] for part in PARTS
    }


def cut(arrays: Arrays, name: str) -> Arrays:
    """Three pools in a fixed order, dealt class by class, whatever the seed of a stream.

    Of each class the dataset's number of training images is set aside for validation; half of
    them, where that is less.
    """
    labels = np.asarray(arrays["train_labels"])
    classes = int(labels.max()) + 1
    train = order(labels, classes, seed=0)
    aside = np.zeros(len(train), dtype=bool)
    for label in range(classes):
        rows = np.flatnonzero(labels[train] == label)
        aside[rows[: min(DATASETS[name].validation_per_class, len(rows) // 2)]] = True
    test = order(arrays["test_labels"], classes, seed=1)
    pieces = {
        "train": ("train", train[~aside]),
        "validation": ("train", train[aside]),
        "test": ("test", test),
    }
    return {
        f"{split}_{part}": arrays[f"{origin}_{part}"][rows]
        for split, (origin, rows) in pieces.items()
        for part in ("images", "labels")
    }


def _choose(arrays: Arrays, where: str, name: str, classes: Sequence[int] | None) -> list[int]:
    """The labels to use: those asked for, or all there are."""
    found = labels_of(arrays, where)
    chosen = found if classes is None else list(classes)
    absent = [label for label in chosen if label not in found]
    if absent or len(set(chosen)) != len(chosen):
        raise UsageError(f"classes {chosen} are not different ones of those in {where}: {found}")
    most = DATASETS[name].classes
    if not FEWEST_CLASSES <= len(chosen) <= most:
        needed = f"{FEWEST_CLASSES} to {most}" if most > FEWEST_CLASSES else f"{FEWEST_CLASSES}"
        raise UsageError(f"{where} has {len(chosen)} classes; {name} needs {needed}")
    return chosen
