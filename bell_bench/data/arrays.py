"""Images as four arrays: checking them and choosing classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.errors import UsageError

Arrays = Mapping[str, NDArray[Any]]

PARTS = ("train_images", "train_labels", "test_images", "test_labels")


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
