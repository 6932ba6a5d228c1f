"""A colour domain: 32x32 RGB images of some classes, in three pools."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 32
SPLITS = ("train", "validation", "test")

Pixels = NDArray[np.uint8]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ColourImages:
    """One pool; any prefix of it is balanced over the classes as far as they reach."""

    images: Pixels
    """(n, 32, 32, 3)."""
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class ColourDomain:
    """The pools that all tasks on one dataset share; memory-mapped, read-only."""

    name: str
    classes: int
    train: ColourImages
    validation: ColourImages
    test: ColourImages
    fingerprint: str
    """Hash of the six arrays."""
