"""Making every image 32x32 RGB bytes, in whole numbers, so that machines agree to the bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bell_bench.data.colour.domain import SIDE, Pixels
from bell_bench.data.resizing import resize
from bell_bench.errors import unknown

if TYPE_CHECKING:
    from PIL.Image import Image

RAINBOW = ("red", "green", "blue")


def from_grey(images: Pixels) -> Pixels:
    """Grey images (n, 28, 28) resized bilinearly to 32x32, as three equal channels."""
    return np.repeat(resize(images, SIDE)[..., None], 3, axis=3)


def from_photograph(photograph: Image) -> Pixels:
    """A picture of any size: short side resized to 32 (PIL's bilinear), centre cropped."""
    from PIL import Image

    width, height = photograph.size
    short = min(width, height)
    size = (SIDE * width // short, SIDE * height // short)
    resized = photograph.convert("RGB").resize(size, Image.Resampling.BILINEAR)
    left, top = (round((length - SIDE) / 2) for length in size)
    return np.asarray(resized.crop((left, top, left + SIDE, top + SIDE)), dtype=np.uint8)


def rainbow(images: Pixels, colour: str) -> Pixels:
    """RainbowMNIST: ``img + (max(img) − img) · colour``, a pure colour behind each image.

    ``max(img)`` is each image's own brightest value.
    """
    if colour not in RAINBOW:
        raise unknown("colour", colour, RAINBOW)
    coloured = np.array(images)
    coloured[..., RAINBOW.index(colour)] = images.max(axis=(1, 2, 3))[:, None, None]
    return coloured
