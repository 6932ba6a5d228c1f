"""The 16 upper labellings g: a class-to-coordinate map g1, then a pattern g2 on the 8x8 grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 8
COORDINATES = SIDE * SIDE

PATTERNS = {
    "XOR": "00001111 00001111 00001111 00001111 11110000 11110000 11110000 11110000",
    "Circle": "00000000 00111100 01111110 01111110 01111110 01111110 00111100 00000000",
    "X": "11000011 01111110 00111100 00011000 00111100 01111110 11000011 10000001",
    "Square": "11111111 10000001 10000001 10011001 10011001 10000001 10000001 11111111",
}
IDENTITY = "12345678"
SHARED_MAPS = ("47126358", "32685741", "21364578")
OWN_MAPS = {
    "XOR": SHARED_MAPS,
    "Circle": ("42175638", "41782635", "13487652"),
    "X": ("83627514", "52183746", "42156387"),
    "Square": ("25784613", "63428571", "25471683"),
}
MAP_NAMES = ("identity", "perm1", "perm2", "perm3")


@dataclass(frozen=True)
class Labelling:
    """g: class c of an image is the ``digits[c]``-th row or column of the pattern."""

    pattern: str
    map: str
    """identity, perm1, perm2 or perm3."""
    digits: str

    @property
    def name(self) -> str:
        return f"{self.pattern} {self.map}"

    @property
    def grid(self) -> NDArray[np.int64]:
        """(8, 8) of 0/1: the label at each coordinate."""
        rows = PATTERNS[self.pattern].split()
        return np.array([[int(cell) for cell in row] for row in rows], dtype=np.int64)

    @property
    def class_at(self) -> NDArray[np.int64]:
        """The class whose images stand for coordinate 0..7 (the map, inverted)."""
        return np.argsort([int(digit) for digit in self.digits])


def labellings(own_maps: bool) -> list[Labelling]:
    """The 16 in sampling order; ``own_maps``: each pattern has permutations of its own."""
    return [
        Labelling(pattern, name, digits)
        for pattern in PATTERNS
        for name, digits in zip(
            MAP_NAMES, (IDENTITY, *(OWN_MAPS[pattern] if own_maps else SHARED_MAPS)), strict=True
        )
    ]
