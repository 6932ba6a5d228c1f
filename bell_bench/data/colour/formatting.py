"""Making every image 32x32 RGB bytes, in whole numbers, so that machines agree to the bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bell_bench.data.colour.domain import SIDE, Pixels
from bell_bench.errors import unknown

if TYPE_CHECKING:
    from PIL.Image import Image

GREY_SIDE = 28
RAINBOW = ("red", "green", "blue")
_CHUNK = 4096
"""Images enlarged at once, so that whole datasets need little memory."""


def from_grey(images: Pixels) -> Pixels:
    """Grey images (n, 28, 28) resized bilinearly to 32x32, as three equal channels."""
    return np.repeat(enlarge(images)[..., None], 3, axis=3)


def enlarge(images: Pixels) -> Pixels:
    """Bilinear, 28x28 to 32x32, pixel centres aligned, halves rounded up.

    Pixel i of 32 lies at (14 i − 1)/16 of the 28, so that weights are sixteenths, and a pixel is a
    whole number of 256ths: exact, and below 2^16.
    """
    place = 14 * np.arange(SIDE) - 1
    share = (place % 16).astype(np.uint16)
    rest = 16 - share
    before, after = (np.clip(place // 16 + side, 0, GREY_SIDE - 1) for side in (0, 1))
    enlarged = np.empty((len(images), SIDE, SIDE), dtype=np.uint8)
    for start in range(0, len(images), _CHUNK):
        some = images[start : start + _CHUNK]
        down = some[:, before] * rest[:, None] + some[:, after] * share[:, None]
        both = down[:, :, before] * rest + down[:, :, after] * share
        enlarged[start : start + _CHUNK] = (both + 128) // 256
    return enlarged


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
