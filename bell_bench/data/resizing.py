"""Resizing in whole numbers, so that machines agree to the bit."""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
_CHUNK = 4096
"""Images resized at once, so that whole datasets need little memory."""
_LUMA = np.array([299, 587, 114], dtype=np.uint32)
"""Thousandths of red, green and blue in the luminance (ITU-R BT.601)."""


def resize(images: Pixels, side: int) -> Pixels:
    """Square grey images to ``side`` x ``side``: bilinear, pixel centres aligned, halves up.

    Of s pixels, pixel i of t lies at ((2i + 1)s − t)/2t. Between 28 and 32, weights are 14ths or
    16ths, and a pixel is a whole number of 196ths or 256ths: exact, and below 2^16.
    """
    have = images.shape[1]
    place = (2 * np.arange(side) + 1) * have - side
    shared = gcd(gcd(*place.tolist()), 2 * side)
    place, parts = place // shared, 2 * side // shared
    share = (place % parts).astype(np.uint16)
    rest = parts - share
    before, after = (np.clip(place // parts + beside, 0, have - 1) for beside in (0, 1))
    resized = np.empty((len(images), side, side), dtype=np.uint8)
    for start in range(0, len(images), _CHUNK):
        some = images[start : start + _CHUNK]
        down = some[:, before] * rest[:, None] + some[:, after] * share[:, None]
        both = down[:, :, before] * rest + down[:, :, after] * share
        resized[start : start + _CHUNK] = (both + parts**2 // 2) // parts**2
    return resized


def resized(images: Pixels, shape: tuple[int, ...]) -> Pixels:
    """Return images brought to a shape: colour ones made grey, or grey ones coloured."""
    if images.shape[1:] == shape:
        return images
    return to_grey(images, shape[0]) if len(shape) == 2 else to_colour(images, shape[0])


def to_colour(images: Pixels, side: int) -> Pixels:
    """Return grey images (n, height, width) resized, as three equal channels."""
    return np.repeat(resize(images, side)[..., None], 3, axis=3)


def to_grey(images: Pixels, side: int) -> Pixels:
    """Return the luminance of colour images (n, height, width, 3), resized."""
    grey = np.empty(images.shape[:3], dtype=np.uint8)
    for start in range(0, len(images), _CHUNK):
        some = images[start : start + _CHUNK] @ _LUMA
        grey[start : start + _CHUNK] = (some + 500) // 1000
    return resize(grey, side)
