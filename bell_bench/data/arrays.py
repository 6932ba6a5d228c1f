"""Images as four arrays: checking them, choosing classes, cutting train, validation and test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.data.domain import CLASSES, SIDE, VALIDATION, DomainSizes
from bell_bench.data.resizing import to_grey
from bell_bench.errors import UsageError

Arrays = Mapping[str, NDArray[Any]]

PARTS = ("train_images", "train_labels", "test_images", "test_labels")
SHAPES = ((SIDE, SIDE), (32, 32, 3))
"""Grey images, or colour ones, which are made grey."""
ENOUGH = {"train": 20, "test": 10}
"""Fewest images per class: of 20, 4 are set aside, and Ψ− still finds its 13 unique ones."""


def check(arrays: Arrays, where: str, classes: Sequence[int] | None = None) -> Arrays:
    """The arrays with 8 classes labelled 0 to 7, or an error that says what is wrong with them."""
    check_parts(arrays, where, SHAPES)
    chosen = _choose(arrays, where, classes)
    check_enough(arrays, where, chosen, ENOUGH)
    selected = select(arrays, chosen)
    grey = {part: to_grey(selected[part], SIDE) for part in PARTS if part.endswith("images")}
    return {**selected, **grey}


def check_parts(arrays: Arrays, where: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise an error unless the four arrays are there, images of one of these shapes."""
    missing = [part for part in PARTS if part not in arrays]
    if missing:
        raise UsageError(f"{where} lacks {', '.join(missing)}; needed are {', '.join(PARTS)}")
    for split in ("train", "test"):
        images, labels = arrays[f"{split}_images"], arrays[f"{split}_labels"]
        _check_split(images, labels, f"{where}: {split}", shapes)


def labels_of(arrays: Arrays, where: str) -> list[int]:
    """The labels there are, in order; an error if some occur in the test images only."""
    found: list[int] = np.unique(arrays["train_labels"]).tolist()
    strange = sorted(set(np.unique(arrays["test_labels"]).tolist()) - set(found))
    if strange:
        raise UsageError(f"{where}: test labels {strange} never occur among the training labels")
    return found


def select(arrays: Arrays, classes: Sequence[int]) -> Arrays:
    """Only these classes, relabelled 0, 1, … in the order given."""
    selected: dict[str, NDArray[Any]] = {}
    for split in ("train", "test"):
        labels = arrays[f"{split}_labels"]
        kept = np.flatnonzero(np.isin(labels, classes))
        relabelled = np.empty(len(kept), dtype=np.int64)
        for new, old in enumerate(classes):
            relabelled[labels[kept] == old] = new
        selected[f"{split}_images"] = arrays[f"{split}_images"][kept]
        selected[f"{split}_labels"] = relabelled
    return selected


def cut(arrays: Arrays, sizes: DomainSizes) -> Arrays:
    """Train, validation and test images in a fixed shuffled order, balanced in every prefix."""
    train = order(arrays["train_labels"], CLASSES, seed=0)
    test = order(arrays["test_labels"], CLASSES, seed=1)[: sizes.test]
    aside = min(VALIDATION, len(train) // 5)
    pieces = {
        "train": ("train", train[aside:][: sizes.train]),
        "validation": ("train", train[:aside][: sizes.validation]),
        "test": ("test", test),
    }
    return {
        f"{split}_{part}": arrays[f"{origin}_{part}"][rows]
        for split, (origin, rows) in pieces.items()
        for part in ("images", "labels")
    }


def order(labels: NDArray[np.int64], classes: int, seed: int) -> NDArray[np.int64]:
    """A fixed shuffle dealt class by class, like cards."""
    shuffled = np.random.RandomState(seed).permutation(len(labels))
    turn = np.empty(len(labels), dtype=np.int64)
    for label in range(classes):
        rows = np.flatnonzero(labels[shuffled] == label)
        turn[rows] = np.arange(len(rows)) * classes + label
    return np.asarray(shuffled[np.argsort(turn, kind="stable")])


def _check_split(
    images: NDArray[Any], labels: NDArray[Any], where: str, shapes: Sequence[tuple[int, ...]]
) -> None:
    if images.dtype != np.uint8 or images.shape[1:] not in shapes:
        wanted = " or ".join(f"(n, {', '.join(map(str, shape))})" for shape in shapes)
        raise UsageError(
            f"{where}_images is {images.dtype} of shape {images.shape}; "
            f"a domain's images are uint8 of shape {wanted}"
        )
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise UsageError(
            f"{where}_labels is {labels.dtype} of shape {labels.shape}; labels are n whole numbers"
        )
    if len(images) != len(labels):
        raise UsageError(f"{where} has {len(images)} images, but {len(labels)} labels")
    if len(labels) and labels.min() < 0:
        raise UsageError(f"{where}_labels holds {labels.min()}; labels count from 0")
    if len(images) and images.min() == images.max():
        raise UsageError(f"{where}_images are blank: every pixel is {images.min()}")


def _choose(arrays: Arrays, where: str, classes: Sequence[int] | None) -> list[int]:
    """The eight labels to use: those asked for, or the first ones there are."""
    found = labels_of(arrays, where)
    if classes is None:
        if len(found) < CLASSES:
            raise UsageError(f"{where} has {len(found)} classes; a domain needs {CLASSES}")
        return found[:CLASSES]
    absent = [label for label in classes if label not in found]
    if absent or len(set(classes)) != CLASSES or len(classes) != CLASSES:
        raise UsageError(
            f"classes {list(classes)} are not {CLASSES} different ones of those in {where}: {found}"
        )
    return list(classes)


def check_enough(
    arrays: Arrays, where: str, classes: Sequence[int], fewest: Mapping[str, int]
) -> None:
    """Raise an error that names the class with fewer images than a domain can do with."""
    for split, enough in fewest.items():
        for label in classes:
            count = int(np.count_nonzero(arrays[f"{split}_labels"] == label))
            if count < enough:
                raise UsageError(
                    f"{where} has {count} {split} images of class {label}; "
                    f"a domain needs {enough} of each class"
                )
