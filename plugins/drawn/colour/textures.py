"""Stand-ins for DTD: 47 textures, told by their structure and scale, in any colours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from bell_bench_drawn.colour.canvas import (
    ACROSS,
    DOWN,
    SIDE,
    Floats,
    Pixels,
    Random,
    between,
    colours,
    direction,
    expose,
    flat,
    happens,
    mix,
    noise,
    slope,
    step,
    triangle,
)

Pattern = Callable[[Random, Floats, Floats, float], Floats]
"""From coordinates, in periods, and about how many periods there are, to values from 0 to 1."""


def _parity(cell: Floats) -> Floats:
    """0 for even numbers, 1 for odd ones."""
    return np.asarray(cell - 2.0 * np.floor(0.5 * cell))


def _within(place: Floats) -> Floats:
    """Where in its period a place lies, −½ to ½."""
    return np.asarray(place - np.floor(place) - np.float32(0.5))


def _stripes(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return step(triangle(u) - between(random, len(u), 0.35, 0.65), 4.0)


def _waves(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return step(triangle(u + 0.7 * triangle(0.7 * v)) - 0.5, 3.0)


def _checks(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return step((triangle(u) - 0.5) * (triangle(v) - 0.5), 20.0)


def _dots(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    a, b = _within(u), _within(v)
    return step(between(random, len(u), 0.06, 0.12) - (a * a + b * b), 12.0)


def _staggered(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return _dots(random, u + 0.5 * _parity(np.floor(v)), v, periods)


def _rings(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    a, b = _within(u), _within(v)
    return step(0.07 - np.abs(np.sqrt(a * a + b * b) - np.float32(0.33)), 12.0)


def _mesh(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return step(np.maximum(triangle(u), triangle(v)) - between(random, len(u), 0.7, 0.85), 5.0)


def _bricks(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    u = 0.5 * u + 0.5 * _parity(np.floor(v))
    return step(np.maximum(0.5 + 0.5 * triangle(u), triangle(v)) - np.float32(0.82), 6.0)


def _weave(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    over = _parity(np.floor(u) + np.floor(v))
    return mix(1.0 - triangle(u), 1.0 - triangle(v), over)


def _diamonds(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return step(0.4 - (np.abs(_within(u)) + np.abs(_within(v))), 6.0)


def _circles(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    """Rings about one centre, somewhere in the picture."""
    x = ACROSS - between(random, len(u), -0.6, 0.6)
    y = DOWN - between(random, len(u), -0.6, 0.6)
    return step(triangle(np.sqrt(x * x + y * y) * (0.5 * periods)) - 0.5, 3.0)


def _saddles(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    x = ACROSS - between(random, len(u), -0.4, 0.4)
    y = DOWN - between(random, len(u), -0.4, 0.4)
    return step(triangle(x * y * periods) - 0.5, 3.0)


def _blobs(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return step(_field(random, u, periods) - between(random, len(u), -0.15, 0.15), 5.0)


def _clouds(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return 0.5 + 0.5 * _field(random, u, periods) + 0.2 * _field(random, u, 2 * periods)


def _cracks(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return step(0.12 - np.abs(_field(random, u, periods)), 8.0)


def _fibres(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    """Long in one direction, upright or lying."""
    fine = int(2.5 * periods)
    upright = happens(random, len(u), 0.5)
    field = np.where(upright, noise(random, len(u), 2, fine), noise(random, len(u), fine, 2))
    return 0.5 + 0.7 * field


def _marble(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return triangle(0.6 * u + 1.2 * noise(random, len(u), 3, 3))


def _scales(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    a, b = _within(u + 0.5 * _parity(np.floor(v))), _within(v) + np.float32(0.5)
    return np.asarray(np.clip(1.3 * np.sqrt(a * a + b * b), 0.0, 1.0))


def _honeycomb(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    """Walls where two lattices of centres are equally near."""
    v = v * np.float32(0.577)
    a, b = _within(u), _within(v) / np.float32(0.577)
    c, d = _within(u + 0.5), _within(v + 0.5) / np.float32(0.577)
    return step(0.1 - np.abs((a * a + b * b) - (c * c + d * d)), 6.0)


def _plaid(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    return 0.5 * step(triangle(u) - 0.6, 4.0) + 0.5 * step(triangle(v) - 0.4, 4.0)


def _herringbone(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    lean = 1.0 - 2.0 * _parity(np.floor(0.5 * v))
    return step(triangle(u + lean * v) - 0.5, 3.0)


def _mosaic(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    """Square tiles, each its own grey."""
    tiles = int(1.5 * periods) + 2
    greys = random.random_sample((len(u), tiles, tiles)).astype(np.float32)
    shift = random.random_sample((2, len(u), 1, 1))
    rows, columns = (
        (np.arange(SIDE).reshape(shape) * (1.5 * periods / SIDE) + part).astype(np.int64)
        for shape, part in zip(((1, -1, 1), (1, 1, -1)), shift, strict=True)
    )
    return np.asarray(greys[np.arange(len(u)).reshape(-1, 1, 1), rows, columns])


def _triangles(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    half = (_within(u) > _within(v)).astype(np.float32)
    return _parity(np.floor(u) + np.floor(v) + half)


def _crosses(random: Random, u: Floats, v: Floats, periods: float) -> Floats:
    a, b = np.abs(_within(u)), np.abs(_within(v))
    return step(np.minimum(0.12 - np.minimum(a, b), 0.36 - np.maximum(a, b)), 10.0)


def _field(random: Random, u: Floats, periods: float) -> Floats:
    cells = round(periods)
    return noise(random, len(u), cells, cells)


_PATTERNS: tuple[Pattern, ...] = (
    _stripes, _waves, _checks, _dots, _staggered, _rings, _mesh, _bricks, _weave, _diamonds,
    _circles, _saddles, _blobs, _clouds, _cracks, _fibres, _marble, _scales, _honeycomb, _plaid,
    _herringbone, _mosaic, _triangles, _crosses,
)  # fmt: skip
_CLASSES = tuple(product((3.2, 6.5), _PATTERNS))[:47]
"""Each pattern coarse, then fine."""


def draw(random: Random, label: int, count: int) -> Pixels:
    """Patches of one texture: turned, warped, lit and coloured at random."""
    periods, pattern = _CLASSES[label]
    u, v = _coordinates(random, periods, count)
    value = pattern(random, u, v, periods)
    value = mix(value, 0.5 + 0.5 * noise(random, count, 9, 9), between(random, count, 0.1, 0.5))
    one, other = flat(colours(random, count)), flat(colours(random, count))
    light = slope(random, count, 0.3)
    light = light + between(random, count, 0.0, 0.3) * noise(random, count, 3, 3)
    planes = [mix(a, b, value) + light for a, b in zip(one, other, strict=True)]
    return expose(random, planes, between(random, count, 0.05, 0.3))


def _coordinates(random: Random, periods: float, count: int) -> tuple[Floats, Floats]:
    """Coordinates in periods: any phase, turned by up to about 35 degrees, warped."""
    scale = 0.5 * periods * between(random, count, 0.75, 1.3)
    cosine, sine = direction(random, count, 0.3)
    bend = between(random, count, 0.0, 0.12)
    x = ACROSS + bend * noise(random, count, 2, 2)
    y = DOWN + bend * noise(random, count, 2, 2)
    u = (x * cosine + y * sine) * scale + between(random, count, 0.0, 8.0)
    v = (y * cosine - x * sine) * scale + between(random, count, 0.0, 8.0)
    return u, v
