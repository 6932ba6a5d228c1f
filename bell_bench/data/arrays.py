"""Images as four arrays: checking them, choosing 8 classes, cutting train, validation and test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.data.domain import CLASSES, SIDE, VALIDATION, DomainSizes
from bell_bench.errors import UsageError

Arrays = Mapping[str, NDArray[Any]]

PARTS = ("train_images", "train_labels", "test_images", "test_labels")
ENOUGH = {"train": 20, "test": 10}
"""Fewest images per class: of 20, 4 are set aside, and Ψ− still finds its 13 unique ones."""


def check(arrays: Arrays, where: str, classes: Sequence[int] | None = None) -> Arrays:
    """The arrays with 8 classes labelled 0 to 7, or an error that says what is wrong with them."""
    missing = [part for part in PARTS if part not in arrays]
    if missing:
        raise UsageError(f"{where} lacks {', '.join(missing)}; needed are {', '.join(PARTS)}")
    for split in ("train", "test"):
        _check_split(arrays[f"{split}_images"], arrays[f"{split}_labels"], f"{where}: {split}")
    chosen = _choose(arrays, where, classes)
    _check_enough(arrays, where, chosen)
    return select(arrays, chosen)


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
    train = _order(arrays["train_labels"], seed=0)
    test = _order(arrays["test_labels"], seed=1)[: sizes.test]
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


def _order(labels: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """A fixed shuffle dealt class by class, like cards."""
    shuffled = np.random.RandomState(seed).permutation(len(labels))
    turn = np.empty(len(labels), dtype=np.int64)
    for label in range(CLASSES):
        rows = np.flatnonzero(labels[shuffled] == label)
        turn[rows] = np.arange(len(rows)) * CLASSES + label
    return np.asarray(shuffled[np.argsort(turn, kind="stable")])


def _check_split(images: NDArray[Any], labels: NDArray[Any], where: str) -> None:
    if images.dtype != np.uint8 or images.shape[1:] != (SIDE, SIDE):
        raise UsageError(
            f"{where}_images is {images.dtype} of shape {images.shape}; "
            f"a domain's images are uint8 of shape (n, {SIDE}, {SIDE})"
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
    found = np.unique(arrays["train_labels"]).tolist()
    strange = sorted(set(np.unique(arrays["test_labels"]).tolist()) - set(found))
    if strange:
        raise UsageError(f"{where}: test labels {strange} never occur among the training labels")
    if classes is None:
        if len(found) < CLASSES:
            raise UsageError(f"{where} has {len(found)} classes; a domain needs {CLASSES}")
        return list(found[:CLASSES])
    absent = [label for label in classes if label not in found]
    if absent or len(set(classes)) != CLASSES or len(classes) != CLASSES:
        raise UsageError(
            f"classes {list(classes)} are not {CLASSES} different ones of those in {where}: {found}"
        )
    return list(classes)


def _check_enough(arrays: Arrays, where: str, classes: Sequence[int]) -> None:
    for split, enough in ENOUGH.items():
        for label in classes:
            count = int(np.count_nonzero(arrays[f"{split}_labels"] == label))
            if count < enough:
                raise UsageError(
                    f"{where} has {count} {split} images of class {label}; "
                    f"a domain needs {enough} of each class"
                )
