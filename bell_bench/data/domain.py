"""A domain: images of some classes, split into train, validation and test."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.uint8]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class DomainSizes:
    """How many images each split of a domain has or is to have, over all its classes.

    None stands for all there are, or where it is not known how many there are.
    """

    train: int | None = None
    validation: int | None = None
    test: int | None = None

    def at_most(self, others: DomainSizes) -> DomainSizes:
        """Return the smaller of both sizes of each split."""
        splits = zip(astuple(self), astuple(others), strict=True)
        told = ([size for size in pair if size is not None] for pair in splits)
        return DomainSizes(*(min(sizes, default=None) for sizes in told))


UNLIMITED = DomainSizes()
"""All there are, however many."""


@dataclass(frozen=True)
class SourceDomain:
    """A domain as a source tells of it, without its images."""

    name: str
    shape: tuple[int, ...]
    """Of an image: (side, side), or (side, side, 3)."""
    classes: int
    sizes: DomainSizes = UNLIMITED
    """How many images there are."""
    version: str = "1"
    """It changes when any image does."""

    def per_class(self, split: str, asked: int) -> int:
        """Return how many images of each class to use: those asked for, if there are as many."""
        there: int | None = getattr(self.sizes, split)
        return asked if there is None else min(asked, there // self.classes)


@dataclass(frozen=True, eq=False)
class Domain:
    """Images (n, side, side) or (n, side, side, 3) with labels from 0, memory-mapped; any prefix
    of a split is balanced over the classes as far as they reach."""

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

    @property
    def classes(self) -> int:
        return int(self.train_labels.max()) + 1


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
