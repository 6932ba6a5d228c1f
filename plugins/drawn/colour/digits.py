"""Stand-ins for MNIST and SVHN: the same ten digits, once on clean paper, once in the street."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bell_bench.data.resizing import resize, to_colour
from bell_bench_drawn.colour.canvas import (
    SIDE,
    Floats,
    Pixels,
    Random,
    between,
    colours,
    expose,
    flat,
    happens,
    noise,
    paint,
    slope,
)
from bell_bench_drawn.glyph_styles import Hand
from bell_bench_drawn.glyphs import pick, write

_WAYS = 2
_PEN = Hand(seed=0, strokes=4, allographs=_WAYS, kinship=0.0, joined=1.0, curl=0.0, jitter=0.11,
            turn=0.17, shift=0.10, warp=0.12, grain=0.05, pen=(0.5, 0.5))  # fmt: skip
_SIGN = Hand(seed=0, strokes=4, allographs=_WAYS, kinship=0.0, joined=1.0, curl=0.0, jitter=0.06,
             turn=0.10, shift=0.08, warp=0.06, grain=0.0, pen=(0.9, 0.9), pressure=(1.2, 2.4),
             ink=(1.0, 1.0))  # fmt: skip
"""How house numbers are written: thicker and more regular."""


def draw_plain(random: Random, label: int, count: int) -> Pixels:
    """Handwritten digits, white on black."""
    strokes = _strokes(random, np.full(count, label))
    return to_colour(write(_PEN, random, strokes), SIDE)


def draw_in_clutter(random: Random, label: int, count: int) -> Pixels:
    """A digit of a house number, its neighbours reaching in from the sides."""
    own = _mask(random, np.full(count, label))
    others = _mask(random, (random.random_sample(count) * 10).astype(np.int64))
    right = _aside(random, others, 1.0)
    left = _aside(random, np.roll(others, 1, axis=0), -1.0)
    wall, ink = _wall_and_ink(random, count)
    light = slope(random, count, 0.25)
    light = light + between(random, count, 0.0, 0.25) * noise(random, count, 5, 5)
    lit = [plane + light for plane in flat(wall)]
    planes = paint(lit, flat(ink), np.maximum(own, np.maximum(left, right)))
    return expose(random, planes, between(random, count, 0.05, 0.25))


def _mask(random: Random, labels: NDArray[np.int64]) -> Floats:
    """How much ink there is in each pixel."""
    return resize(write(_SIGN, random, _strokes(random, labels)), SIDE).astype(np.float32) / 255.0


def _aside(random: Random, masks: Floats, side: float) -> Floats:
    """The masks moved to one side, most of them; the others are gone."""
    count = len(masks)
    shift = (side * (13.0 + 6.0 * random.random_sample((count, 1, 1)))).astype(np.int64)
    column = np.arange(SIDE) - shift
    inside = (column >= 0) & (column < SIDE) & happens(random, count, 0.6)
    moved = np.take_along_axis(masks, np.clip(column, 0, SIDE - 1), axis=2)
    return np.where(inside, moved, np.float32(0.0))


def _wall_and_ink(random: Random, count: int) -> tuple[Floats, Floats]:
    """Two colours (image, channel) that differ, though sometimes by little."""
    wall, ink = colours(random, count, 0.1, 0.9), colours(random, count, -0.15, 0.15)
    contrast = 0.2 + 0.5 * random.random_sample((count, 1))
    lighter = wall[:, 1:2] < 0.5
    return wall, (wall + ink + np.where(lighter, contrast, -contrast)).astype(np.float32)


def _strokes(random: Random, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(_DIGITS[labels, pick(random, len(labels), _WAYS)])


def _digits(text: str) -> NDArray[np.float64]:
    """Control points (digit, way, stroke, 4, xy); of a straight stroke the text has its ends."""
    glyphs = []
    for line in text.strip().splitlines():
        strokes = []
        for stroke in line.partition(":")[2].split(","):
            points = np.array(stroke.split(), dtype=np.float64).reshape(-1, 2) / 100.0
            if len(points) == 2:
                (start, end), third = points, (points[1] - points[0]) / 3.0
                points = np.stack([start, start + third, end - third, end])
            strokes.append(points)
        glyphs.append(strokes)
    return np.array(glyphs).reshape(10, _WAYS, _PEN.strokes, 4, 2)


_DIGITS = _digits("""
0: 0 -100 -33 -100 -60 -55 -60 0, -60 0 -60 55 -33 100 0 100, 0 100 33 100 60 55 60 0, 60 0 60 -55 33 -100 0 -100
0: 0 -95 -25 -95 -42 -50 -42 0, -42 0 -42 50 -25 95 0 95, 0 95 25 95 42 50 42 0, 42 0 42 -50 25 -95 0 -95
1: 0 -100 0 -30, 0 -30 0 30, 0 30 0 65, 0 65 0 100
1: -40 -60 0 -100, 0 -100 0 0, 0 0 0 100, -45 100 45 100
2: -55 -50 -50 -85 -25 -100 0 -100, 0 -100 35 -100 60 -75 55 -45, 55 -45 45 5 -20 40 -60 100, -60 100 60 100
2: -55 -55 -45 -90 -20 -100 0 -100, 0 -100 50 -95 55 -50 35 -10, 35 -10 0 60 -40 110 -60 70, -60 70 -50 40 0 100 65 90
3: -50 -75 -20 -110 55 -105 50 -50, 50 -50 48 -15 15 -5 -10 -5, -10 -5 40 -5 65 20 58 55, 58 55 50 105 -30 115 -60 75
3: -50 -100 50 -100, 50 -100 -5 -15, -5 -15 40 -15 65 20 58 55, 58 55 50 105 -30 115 -60 75
4: 25 -100 -65 30, -65 30 65 30, 25 -100 25 0, 25 0 25 100
4: -45 -100 -60 15, -60 15 60 15, 40 -85 35 10, 35 10 30 100
5: 50 -100 -45 -100, -45 -100 -50 -15, -50 -15 -10 -45 60 -30 60 30, 60 30 60 105 -30 115 -60 75
5: 60 -95 -30 -100, -30 -100 -40 -20, -40 -20 10 -35 55 -10 50 35, 50 35 45 95 -20 105 -55 90
6: 40 -100 -20 -80 -60 -20 -60 40, -60 40 -60 120 60 120 60 40, 60 40 60 0 30 -15 0 -15, 0 -15 -30 -15 -55 5 -60 40
6: 15 -100 -25 -60 -50 -10 -50 45, -50 45 -50 115 55 115 50 50, 50 50 45 10 25 5 0 5, 0 5 -25 5 -45 20 -50 45
7: -60 -100 0 -100, 0 -100 60 -100, 60 -100 20 0, 20 0 -15 100
7: -60 -95 60 -95, 60 -95 20 0, 20 0 -20 100, -25 0 55 0
8: 0 -8 -70 -15 -65 -100 0 -100, 0 -100 65 -100 70 -15 0 -8, 0 -8 -85 0 -85 100 0 100, 0 100 85 100 85 0 0 -8
8: 30 -80 0 -110 -60 -100 -45 -50, -45 -50 -30 -15 60 0 50 55, 50 55 40 105 -60 110 -50 50, -50 50 -40 5 60 -40 30 -80
9: -40 100 20 80 60 20 60 -40, 60 -40 60 -120 -60 -120 -60 -40, -60 -40 -60 0 -30 15 0 15, 0 15 30 15 55 -5 60 -40
9: 45 -50 40 -110 -60 -110 -50 -45, -50 -45 -45 0 40 0 45 -50, 45 -50 45 30, 45 30 40 100
""")  # noqa: E501
"""Hundredths of the way from the centre to the rim, x before y, y downwards."""
