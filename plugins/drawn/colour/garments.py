"""Stand-ins for Fashion-MNIST: silhouettes of ten garments, grey on black, some hard to tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bell_bench_drawn.colour.canvas import (
    ACROSS,
    DOWN,
    CanvasShape,
    Floats,
    Pixels,
    Random,
    bell,
    between,
    cover,
    direction,
    expose,
    happens,
    mix,
    noise,
    triangle,
)

_WOBBLE = 0.07
"""Standard deviation of each part's place; sizes vary more."""
_HIDDEN = 0.4
"""How often a trim or gap does not show."""
_CLOTH, _TRIM, _GAP = 0, 1, 2
"""Paints: the garment's own grey, another, and what shows the background through."""


def _box(
    x: int, y: int, width: int, height: int, taper: int = 0, turn: int = 0, paint: int = _CLOTH
) -> CanvasShape:
    """In hundredths."""
    return replace(
        _ellipse(x, y, width, height, paint), kind="box", turn=turn / 100, taper=taper / 100
    )


def _ellipse(x: int, y: int, width: int, height: int, paint: int = _CLOTH) -> CanvasShape:
    return CanvasShape("ellipse", x / 100, y / 100, width / 100, height / 100, paint=paint)


def _sleeves(x: int, y: int, width: int, length: int, turn: int) -> tuple[CanvasShape, CanvasShape]:
    return _box(x, y, width, length, turn=-turn), _box(-x, y, width, length, turn=turn)


_TORSO = _box(0, 5, 42, 75)
_NECK = _ellipse(0, -70, 17, 12, paint=_GAP)

_GARMENTS: tuple[tuple[CanvasShape, ...], ...] = (
    (*_sleeves(52, -45, 15, 28, 28), _TORSO, _NECK),
    (_box(-20, 8, 19, 84, taper=25), _box(20, 8, 19, 84, taper=25), _box(0, -75, 38, 14)),
    (*_sleeves(55, 0, 13, 72, 8), _TORSO, _NECK),
    (_box(0, -50, 24, 36), _box(0, 35, 26, 58, taper=-70), _ellipse(0, -88, 12, 12, paint=_GAP)),
    (*_sleeves(55, 2, 14, 76, 8), _box(0, 8, 45, 84), _box(0, 8, 3, 84, paint=_GAP)),
    (_box(0, 45, 85, 9), _box(-48, 15, 12, 35, turn=22), _box(10, 18, 10, 32, turn=-22),
     _box(-15, -5, 42, 8, turn=12, paint=_TRIM)),
    (*_sleeves(55, -2, 13, 68, 9), _TORSO, _box(0, 5, 3, 75, paint=_TRIM),
     _box(0, -66, 16, 8, paint=_TRIM)),
    (_box(0, 42, 88, 10, paint=_TRIM), _box(-35, 10, 48, 26), _ellipse(35, 28, 50, 22)),
    (_ellipse(0, -38, 36, 42), _ellipse(0, -38, 25, 31, paint=_GAP), _box(0, 30, 75, 46),
     _box(0, 2, 75, 6, paint=_TRIM)),
    (_box(-30, -10, 33, 75), _ellipse(12, 45, 66, 26), _box(-2, 70, 66, 8, paint=_TRIM)),
)  # fmt: skip
"""T-shirt, trousers, pullover, dress, coat, sandal, shirt, sneaker, bag, boot."""


def draw(random: Random, label: int, count: int) -> Pixels:
    """Garments of one kind, each cut, worn and lit in its own way."""
    x, y, scale = _pose(random, count)
    greys = [between(random, count, 0.15, 0.95), between(random, count, 0.1, 1.0), _BLACK]
    grey = np.zeros((count, 1, 1), dtype=np.float32)
    cloth = _cloth(random, x, y, count)
    for shape in _GARMENTS[label]:
        wobble = [bell(random, count, _WOBBLE * size) for size in (1.0, 1.0, 3.5, 2.0)]
        here = cover(shape, x, y, scale, wobble)
        if shape.paint != _CLOTH:
            here = here * happens(random, count, 1.0 - _HIDDEN)
        ink = greys[shape.paint] if shape.paint == _GAP else greys[shape.paint] * cloth
        grey = mix(grey, ink, here)
    exposed = expose(random, [grey] * 3, 0.04)
    return np.repeat(exposed[..., :1], 3, axis=3)


_BLACK = np.zeros((1, 1, 1), dtype=np.float32)


def _pose(random: Random, count: int) -> tuple[Floats, Floats, Floats]:
    scale = between(random, count, 0.65, 0.95)
    cosine, sine = direction(random, count, 0.08)
    across, down = ACROSS - bell(random, count, 0.07), DOWN - bell(random, count, 0.07)
    mirror = np.where(happens(random, count, 0.5), -1.0, 1.0).astype(np.float32)
    stretch = between(random, count, 0.75, 1.3)
    x = (across * cosine + down * sine) / (scale * stretch)
    y = (down * cosine - across * sine) / scale
    fold = bell(random, count, 0.1)
    return (x + fold * y * y) * mirror, y, scale


def _cloth(random: Random, x: Floats, y: Floats, count: int) -> Floats:
    """Folds, prints and stripes."""
    folds = 1.0 + between(random, count, 0.0, 0.6) * noise(random, count, 5, 7)
    along = np.where(happens(random, count, 0.5), x, y)
    stripes = triangle(along * between(random, count, 2.0, 6.0)) - 0.5
    strength = between(random, count, 0.0, 0.9) * happens(random, count, 0.5)
    return folds + strength.astype(np.float32) * stripes
