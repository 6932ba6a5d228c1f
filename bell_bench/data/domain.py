"""A domain: images of 8 classes, split into train, validation and test."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

CLASSES = 8
SIDE = 28
VALIDATION = 4800
"""How many training images a domain sets aside for validation (fewer if that is over a fifth)."""

BELL_DOMAINS = (
    "mnist_1",
    "fmnist_1",
    "k49_1",
    "k49_2",
    "k49_3",
    "k49_4",
    "emnist_1",
    "emnist_2",
    "emnist_3",
)

Images = NDArray[np.uint8]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class DomainSizes:
    """How many images of a domain to use at most, in total over its classes; None is all
    there are."""

    train: int | None = None
    validation: int | None = None
    test: int | None = None

    def at_most(self, others: DomainSizes) -> DomainSizes:
        """Return the smaller of both sizes of each split."""
        splits = zip(astuple(self), astuple(others), strict=True)
        told = ([size for size in pair if size is not None] for pair in splits)
        return DomainSizes(*(min(sizes, default=None) for sizes in told))


@dataclass(frozen=True, eq=False)
class Domain:
    """Images (n, 28, 28) with labels 0 to 7; any prefix of a split is balanced over the classes."""

    name: str
    train_images: Images
    train_labels: Labels
    validation_images: Images
    validation_labels: Labels
    test_images: Images
    test_labels: Labels
    mean: float
    """Of all training pixels."""
    std: float
    fingerprint: str
    """Hash of the six arrays, the same on every machine."""


def pixel_statistics(images: Images) -> tuple[float, float]:
    """Mean and standard deviation from exact integer sums, so equal on every machine."""
    counts = np.zeros(256, dtype=np.int64)
    for start in range(0, len(images), 1024):
        counts += np.bincount(images[start : start + 1024].ravel(), minlength=256)
    histogram = [int(count) for count in counts]
    n = sum(histogram)
    total = sum(value * count for value, count in enumerate(histogram))
    squares = sum(value * value * count for value, count in enumerate(histogram))
    return total / n, math.sqrt((n * squares - total * total) / (n * n))
