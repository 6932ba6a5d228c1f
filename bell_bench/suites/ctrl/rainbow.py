"""RainbowMNIST: digits on a colour."""

from __future__ import annotations

import numpy as np

from bell_bench.data.domain import Images
from bell_bench.errors import unknown

RAINBOW = ("red", "green", "blue")


def rainbow(images: Images, colour: str) -> Images:
    """Return ``img + (max(img) − img) · colour``, a pure colour behind each image.

    ``max(img)`` is each image's own brightest value.
    """
    if colour not in RAINBOW:
        raise unknown("colour", colour, RAINBOW)
    coloured = np.array(images)
    coloured[..., RAINBOW.index(colour)] = images.max(axis=(1, 2, 3))[:, None, None]
    return coloured
