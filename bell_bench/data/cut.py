"""From a set of images to a domain: which classes, of which shape, which images for validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bell_bench.data.arrays import PARTS, Arrays, check_enough, check_parts, labels_of, select
from bell_bench.data.domain import DomainSizes
from bell_bench.data.resizing import resized
from bell_bench.errors import UsageError

VERSION = 2
"""Part of every cache key of images from files; changes when the way they are cut does."""
SHAPES = ((28, 28), (32, 32, 3))
"""Images that may be brought in, grey or in colour, whatever the shape of the domain."""


@dataclass(frozen=True)
class DomainCut:
    """How a suite cuts a domain from a set of images."""

    shape: tuple[int, ...]
    """Of the domain's images, to which others are brought."""
    classes: int
    """The most classes it has."""
    fewest_classes: int
    first_classes: bool
    """Whether the first classes of a set with more are taken; else they are too many."""
    fewest_train: int
    """Training images that each class must have."""
    fewest_test: int
    validation: int
    """How many training images are set aside for validation: of all at most a fifth, or of each
    class at most half."""
    validation_per_class: bool

    def set_aside(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the training images, in their order, are for validation."""
        aside = np.zeros(len(labels), dtype=bool)
        if not self.validation_per_class:
            aside[: min(self.validation, len(labels) // 5)] = True
            return aside
        for label in range(int(labels.max()) + 1):
            rows = np.flatnonzero(labels == label)
            aside[rows[: min(self.validation, len(rows) // 2)]] = True
        return aside


def check(
    arrays: Arrays,
    where: str,
    cut: DomainCut,
    classes: Sequence[int] | None = None,
    name: str = "a domain",
) -> Arrays:
    """Return the images of the classes used, in the cut's shape, with labels counted from 0; or
    raise an error that says what is wrong with them."""
    shapes = [cut.shape, *(shape for shape in SHAPES if shape != cut.shape)]
    check_parts(arrays, where, shapes)
    chosen = _choose(arrays, where, cut, classes, name)
    check_enough(arrays, where, chosen, {"train": cut.fewest_train, "test": cut.fewest_test})
    selected = select(arrays, chosen)
    images = [part for part in PARTS if part.endswith("images")]
    return {**selected, **{part: resized(selected[part], cut.shape) for part in images}}


def cut_splits(arrays: Arrays, cut: DomainCut, sizes: DomainSizes) -> Arrays:
    """Return train, validation and test images: dealt class by class in a fixed shuffled order, so
    that every prefix is balanced as far as the classes reach."""
    classes = int(arrays["train_labels"].max()) + 1
    train = order(arrays["train_labels"], classes, seed=0)
    test = order(arrays["test_labels"], classes, seed=1)
    aside = cut.set_aside(arrays["train_labels"][train])
    pieces = {
        "train": ("train", train[~aside][: sizes.train]),
        "validation": ("train", train[aside][: sizes.validation]),
        "test": ("test", test[: sizes.test]),
    }
    return {
        f"{split}_{part}": arrays[f"{origin}_{part}"][rows]
        for split, (origin, rows) in pieces.items()
        for part in ("images", "labels")
    }


def order(labels: NDArray[np.int64], classes: int, seed: int) -> NDArray[np.int64]:
    """Return a fixed shuffle dealt class by class, like cards."""
    shuffled = np.random.RandomState(seed).permutation(len(labels))
    turn = np.empty(len(labels), dtype=np.int64)
    for label in range(classes):
        rows = np.flatnonzero(labels[shuffled] == label)
        turn[rows] = np.arange(len(rows)) * classes + label
    return np.asarray(shuffled[np.argsort(turn, kind="stable")])


def _choose(
    arrays: Arrays, where: str, cut: DomainCut, classes: Sequence[int] | None, name: str
) -> list[int]:
    """Return the labels to use: those asked for, or the first or all there are."""
    found = labels_of(arrays, where)
    exact = cut.classes == cut.fewest_classes
    if classes is not None:
        right = len(classes) == cut.classes or not exact
        if not right or len(set(classes)) != len(classes) or not set(classes) <= set(found):
            many = f"{cut.classes} different" if exact else "different"
            raise UsageError(
                f"classes {list(classes)} are not {many} ones of those in {where}: {found}"
            )
        found = list(classes)
    elif cut.first_classes:
        found = found[: cut.classes]
    if not cut.fewest_classes <= len(found) <= cut.classes:
        needed = f"{cut.classes}" if exact else f"{cut.fewest_classes} to {cut.classes}"
        raise UsageError(f"{where} has {len(found)} classes; {name} needs {needed}")
    return found
