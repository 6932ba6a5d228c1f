"""Embedded images: glyphs drawn from random strokes, bit-identical on every machine.

Only numpy's frozen ``RandomState.random_sample`` and single additions, multiplications, divisions
and square roots are used, which IEEE 754 rounds alike everywhere. Nothing here may call sin, exp,
a matrix product or a floating-point sum over an axis: those differ between CPUs in the last bit.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bell_bench_drawn.glyph_styles import HANDS, Hand

Images = NDArray[np.uint8]
Labels = NDArray[np.int64]

SIDE = 28
CLASSES = 8
VERSION = 1
"""Part of every cache key; changes when any pixel does."""
SPLITS = ("train", "validation", "test")
ALL = {"train": 43_200, "validation": 4_800, "test": 8_000}
"""What "all images" means: about the sizes of the real domains."""

BLOCK = 512
"""Images drawn from one seed; a multiple of 8."""
_POINTS = 40
"""Samples along a stroke."""
_MARGIN = 4
_CANVAS = SIDE + 2 * _MARGIN
_REACH = 9.0
"""Pixels from the centre to coordinate 1."""

Floats = NDArray[np.float64]


def draw(name: str, split: str, count: int) -> tuple[Images, Labels]:
    """The first ``count`` glyphs of a split; labels go round 0 to 7."""
    images = np.empty((count, SIDE, SIDE), dtype=np.uint8)
    for start in range(0, count, BLOCK):
        block = _draw_block(HANDS[name], SPLITS.index(split), start // BLOCK)
        images[start : start + BLOCK] = block[: count - start]
    return images, np.arange(count, dtype=np.int64) % CLASSES


def _draw_block(hand: Hand, split: int, block: int) -> Images:
    random = np.random.RandomState([hand.seed, 1 + split, block])
    labels = np.arange(BLOCK) % CLASSES
    control = _alphabet(hand)[labels, pick(random, BLOCK, hand.allographs)]
    return write(hand, random, control)


def write(hand: Hand, random: np.random.RandomState, control: Floats) -> Images:
    """Strokes, given by control points (image, stroke, 4, xy), as this hand puts them on paper."""
    control = control + hand.jitter * _bell(random, control.shape)
    x, y = _distort(hand, random, *_bezier(control))
    return _develop(hand, random, _splat(hand, x, y))


def pick(random: np.random.RandomState, count: int, ways: int) -> NDArray[np.int64]:
    """A way of writing for each image, the first ones more common."""
    u = random.random_sample(count)
    return np.minimum((u * (0.4 + 0.6 * u) * ways).astype(np.int64), ways - 1)


def _bell(random: np.random.RandomState, shape: tuple[int, ...]) -> Floats:
    """Nearly normal numbers of variance 1: three uniform ones added."""
    u = random.random_sample((3, *shape))
    return np.asarray(2.0 * (u[0] + u[1] + u[2] - 1.5))


@cache
def _alphabet(hand: Hand) -> Floats:
    """Control points (class, way, stroke, 4, xy) of every glyph the hand knows."""
    random = np.random.RandomState([hand.seed, 0])
    classes = []
    for _ in range(CLASSES):
        first = _glyph(hand, random)
        others = [_glyph(hand, random, first) for _ in range(hand.allographs - 1)]
        classes.append([first, *others])
    alphabet = np.array(classes)
    ends = alphabet[..., (0, 3), :]
    low, high = ends.min((2, 3), keepdims=True), ends.max((2, 3), keepdims=True)
    return np.asarray((alphabet - 0.5 * (low + high)) / np.maximum(0.5 * (high - low), 0.5))


def _glyph(hand: Hand, random: np.random.RandomState, first: Floats | None = None) -> Floats:
    """The strokes of a glyph: new ones, and some of the ``first`` way to write its class."""
    glyph = np.empty((hand.strokes, 4, 2))
    pen = _anchor(random)
    for stroke in range(hand.strokes):
        glyph[stroke] = _stroke(hand, random, pen)
        if first is not None and random.random_sample() < hand.kinship:
            glyph[stroke] = first[stroke]
        pen = glyph[stroke, 3] if random.random_sample() < hand.joined else _anchor(random)
    return glyph


def _anchor(random: np.random.RandomState) -> Floats:
    """One of the 3 x 3 places where strokes begin and end."""
    return np.floor(random.random_sample(2) * 3.0) - 1.0


def _stroke(hand: Hand, random: np.random.RandomState, start: Floats) -> Floats:
    """A stroke's four control points, from ``start`` to another anchor, bent to one side."""
    end = _anchor(random)
    while np.all(end == start):
        end = _anchor(random)
    across = np.array([start[1] - end[1], end[0] - start[0]])
    bend = hand.curl * (2.0 * random.random_sample(2) - 1.0)
    inner = [
        start + part * (end - start) + side * across
        for part, side in zip((0.3, 0.7), bend, strict=True)
    ]
    return np.stack([start, *inner, end])


def _bezier(control: Floats) -> tuple[Floats, Floats]:
    """Points (image, stroke, point) along cubic curves."""
    t = np.arange(_POINTS) / (_POINTS - 1.0)
    s = 1.0 - t
    basis = (s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t)
    x, y = (
        sum(basis[k] * control[:, :, k, axis, None] for k in range(1, 4))
        + basis[0] * control[:, :, 0, axis, None]
        for axis in (0, 1)
    )
    return x, y


def _distort(
    hand: Hand, random: np.random.RandomState, x: Floats, y: Floats
) -> tuple[Floats, Floats]:
    """Elastic warp, then affine map, each image its own; in pixels of the canvas."""
    warp = hand.warp * _bell(random, (6, len(x), 1, 1))
    turn = hand.turn * _bell(random, (4, len(x), 1, 1))
    shift = hand.shift * _bell(random, (2, len(x), 1, 1))
    xx, xy, yy = x * x, x * y, y * y
    x, y = (
        x + warp[0] * xx + warp[1] * xy + warp[2] * yy,
        y + warp[3] * xx + warp[4] * xy + warp[5] * yy,
    )
    x, y = (
        x * (1.0 + turn[0]) + y * (turn[1] + hand.slant) + shift[0],
        x * turn[2] + y * (1.0 + turn[3]) + shift[1],
    )
    centre = 0.5 * (_CANVAS - 1)
    return centre + _REACH * x, centre + _REACH * y


def _splat(hand: Hand, x: Floats, y: Floats) -> Floats:
    """Ink on the canvas (image, row, column): each step of a stroke leaves its length."""
    dx, dy = x[..., 1:] - x[..., :-1], y[..., 1:] - y[..., :-1]
    ink = np.sqrt(dx * dx + dy * dy)
    if hand.dash:
        ink = ink * (np.arange(_POINTS - 1) // hand.dash % 2 == 0)
    x = np.clip(0.5 * (x[..., 1:] + x[..., :-1]), 0.0, _CANVAS - 1.001)
    y = np.clip(0.5 * (y[..., 1:] + y[..., :-1]), 0.0, _CANVAS - 1.001)
    left, top = x.astype(np.int64), y.astype(np.int64)
    right, down = x - left, y - top
    image = np.arange(len(x)).reshape(-1, 1, 1)
    cell = (image * _CANVAS + top) * _CANVAS + left
    size = len(x) * _CANVAS * _CANVAS
    canvas = np.zeros(size)
    for offset, share in (
        (0, (1.0 - right) * (1.0 - down)),
        (1, right * (1.0 - down)),
        (_CANVAS, (1.0 - right) * down),
        (_CANVAS + 1, right * down),
    ):
        canvas += np.bincount((cell + offset).ravel(), (ink * share).ravel(), size)
    return canvas.reshape(-1, _CANVAS, _CANVAS)


def _develop(hand: Hand, random: np.random.RandomState, canvas: Floats) -> Images:
    """From ink to grey levels: pen, pressure, paper, light and grain."""
    count = len(canvas)
    wet = _blur(_blur(canvas, hand.pen[0], axis=2), hand.pen[1], axis=1)
    if hand.nib != (0, 0):
        wet = wet + np.roll(wet, hand.nib, axis=(1, 2))
    wet = wet[:, _MARGIN:-_MARGIN, _MARGIN:-_MARGIN]
    cover = np.minimum(wet * _between(random, count, hand.pressure), 1.0)
    if hand.hollow:
        cover = 4.0 * cover * (1.0 - cover)
    grey = _paper(hand, random, count)
    grey = grey + (_between(random, count, hand.ink) - grey) * cover
    noise = random.random_sample(grey.shape) + random.random_sample(grey.shape) - 1.0
    return np.asarray(np.clip(256.0 * (grey + hand.grain * noise), 0.0, 255.0).astype(np.uint8))


def _between(random: np.random.RandomState, count: int, ends: tuple[float, float]) -> Floats:
    return np.asarray(ends[0] + (ends[1] - ends[0]) * random.random_sample((count, 1, 1)))


def _paper(hand: Hand, random: np.random.RandomState, count: int) -> Floats:
    """The background (image, row, column): its grey, uneven light, ruled lines."""
    place = np.arange(SIDE) / (0.5 * (SIDE - 1)) - 1.0
    slope = hand.shade * (2.0 * random.random_sample((2, count, 1, 1)) - 1.0)
    grey = _between(random, count, hand.paper) + slope[0] * place + slope[1] * place[:, None]
    distance, line = hand.rule
    if distance:
        phase = (random.random_sample((count, 1)) * abs(distance)).astype(np.int64)
        ruled = (np.arange(SIDE) + phase) % abs(distance) == 0
        grey = np.where(ruled[:, :, None] if distance > 0 else ruled[:, None, :], line, grey)
    return np.asarray(grey)


def _blur(canvas: Floats, outer: float, axis: int) -> Floats:
    """A pen's profile: three taps, the outer ones weighing ``outer`` against 1."""
    before, after = np.roll(canvas, 1, axis), np.roll(canvas, -1, axis)
    return np.asarray((canvas + outer * (before + after)) / (1.0 + 2.0 * outer) * 1.5)
