"""What all artists share: chance, places on the canvas, fields of noise, shapes, paint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDE = 32

Pixels = NDArray[np.uint8]
Floats = NDArray[np.floating[Any]]
"""Single precision throughout, for speed."""
Random = np.random.RandomState

_PLACE = ((np.arange(SIDE) - 0.5 * (SIDE - 1)) / (0.5 * SIDE)).astype(np.float32)
ACROSS: Floats = _PLACE[None, None, :]
"""Where a pixel lies from left to right, −1 to 1."""
DOWN: Floats = _PLACE[None, :, None]
ONE_PIXEL = 2.0 / SIDE


def between(random: Random, count: int, low: float, high: float) -> Floats:
    """A number for each image, shaped to go with planes."""
    return (low + (high - low) * random.random_sample((count, 1, 1))).astype(np.float32)


def bell(random: Random, count: int, spread: float) -> Floats:
    """Nearly normal numbers of this standard deviation."""
    u = random.random_sample((3, count, 1, 1))
    return np.asarray(2.0 * spread * (u[0] + u[1] + u[2] - 1.5)).astype(np.float32)


def happens(random: Random, count: int, chance: float) -> NDArray[np.bool_]:
    """Whether something happens in each image."""
    return np.asarray(random.random_sample((count, 1, 1)) < chance)


def direction(random: Random, count: int, spread: float) -> tuple[Floats, Floats]:
    """Cosine and sine of an angle for each image, within ±2 arctan(``spread``); no trigonometry."""
    t = between(random, count, -spread, spread)
    length = 1.0 + t * t
    return (1.0 - t * t) / length, 2.0 * t / length


def noise(random: Random, count: int, rows: int, columns: int) -> Floats:
    """A smooth field from −1 to 1 that varies over this many cells down and across."""
    lattice = (2.0 * random.random_sample((count, rows + 2, columns + 2)) - 1.0).astype(np.float32)
    for axis, cells in ((1, rows), (2, columns)):
        place = (np.arange(SIDE) * cells) / SIDE
        cell = place.astype(np.int64)
        rest = (place - cell).astype(np.float32)
        share = rest * rest * (3.0 - 2.0 * rest)
        share = share[:, None] if axis == 1 else share
        before = lattice.take(cell, axis)
        lattice = before + share * (lattice.take(cell + 1, axis) - before)
    return lattice


def slope(random: Random, count: int, steepness: float) -> Floats:
    """A field that rises evenly in some direction, such as light from one side."""
    across = between(random, count, -steepness, steepness)
    return across * ACROSS + between(random, count, -steepness, steepness) * DOWN


def triangle(phase: Floats) -> Floats:
    """A wave of period 1 that rises from 0 to 1 and falls again, along straight lines."""
    return np.asarray(np.abs(2.0 * (phase - np.floor(phase)) - 1.0))


def step(value: Floats, sharpness: float | Floats) -> Floats:
    """0 below zero, 1 above, with a soft edge between."""
    return np.asarray(np.clip(value * sharpness + np.float32(0.5), 0.0, 1.0))


def mix(a: Floats, b: Floats, share: Floats) -> Floats:
    return a + (b - a) * share


@dataclass(frozen=True)
class CanvasShape:
    """A part of an object, in the object's own coordinates of −1 to 1."""

    kind: str
    """ellipse, diamond, or box (``taper`` 0) that narrows to a triangle (``taper`` 1) downwards."""
    x: float
    y: float
    width: float
    """Half of it, as all sizes here."""
    height: float
    turn: float = 0.0
    """Tangent of half the angle it is turned by."""
    taper: float = 0.0
    paint: int = 0
    """Which of the object's colours it has."""


def cover(
    shape: CanvasShape, x: Floats, y: Floats, scale: Floats, wobble: Sequence[Floats] | None = None
) -> Floats:
    """How much of each pixel the shape covers.

    ``x`` and ``y`` are the object's coordinates at each pixel, ``scale`` how large the object is on
    the canvas, ``wobble`` four numbers per image that move and stretch this part.
    """
    dx, dy, wide, high = wobble if wobble is not None else (_NIL, _NIL, _NIL, _NIL)
    t = shape.turn
    cosine, sine = (1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t)
    x, y = x - (np.float32(shape.x) + dx), y - (np.float32(shape.y) + dy)
    width = np.float32(shape.width) * (1.0 + wide)
    height = np.float32(shape.height) * (1.0 + high)
    u = (x * np.float32(cosine) + y * np.float32(sine)) / width
    v = (y * np.float32(cosine) - x * np.float32(sine)) / height
    sharp = scale / np.float32(ONE_PIXEL)
    if shape.kind == "ellipse":
        return step(1.0 - (u * u + v * v), 0.5 * sharp * np.minimum(width, height))
    if shape.kind == "diamond":
        return step(1.0 - (np.abs(u) + np.abs(v)), 0.7 * sharp * np.minimum(width, height))
    beside = (1.0 - np.float32(0.5 * shape.taper) * (v + 1.0) - np.abs(u)) * width
    return step(np.minimum(beside, (1.0 - np.abs(v)) * height), sharp)


_NIL = np.zeros((1, 1, 1), dtype=np.float32)


def colours(random: Random, count: int, low: float = 0.0, high: float = 1.0) -> Floats:
    """A colour (image, channel) for each image, any between two greys."""
    return (low + (high - low) * random.random_sample((count, 3))).astype(np.float32)


def muted(random: Random, count: int, strength: float) -> Floats:
    """A colour (image, channel) for each image: any grey, tinted."""
    grey = random.random_sample((count, 1))
    tinted = grey + strength * (random.random_sample((count, 3)) - 0.5)
    return tinted.astype(np.float32)


def flat(colour: Floats) -> list[Floats]:
    """A colour as three planes, each one number per image."""
    return [colour[:, channel, None, None] for channel in range(3)]


def paint(planes: Sequence[Floats], colour: Sequence[Floats], share: Floats) -> list[Floats]:
    """Three planes with a colour laid over them where ``share`` says."""
    return [mix(under, over, share) for under, over in zip(planes, colour, strict=True)]


def expose(random: Random, planes: Sequence[Floats], grain: float | Floats) -> Pixels:
    """Bytes (image, row, column, channel) from planes of 0 to 1, with the grain of a camera."""
    count = max(len(plane) for plane in planes)
    image = np.empty((count, SIDE, SIDE, 3), dtype=np.uint8)
    for channel, plane in enumerate(planes):
        speck = random.random_sample((count, SIDE, SIDE)).astype(np.float32) - np.float32(0.5)
        image[..., channel] = np.clip(256.0 * (plane + grain * speck), 0.0, 255.0).astype(np.uint8)
    return image
