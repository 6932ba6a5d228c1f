"""Stand-ins for CIFAR: objects of several parts, in any pose and light, before busy backgrounds.

What makes a class is which parts there are and where; colours lean towards a class's own, as they
do in photographs, but mostly vary.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

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
    colours,
    cover,
    direction,
    expose,
    flat,
    happens,
    muted,
    noise,
    paint,
    slope,
    step,
    triangle,
)

MEMBERS = 5
"""Classes in a family of the hundred."""
_KINDS = ("ellipse", "box", "box", "diamond")
_TURNS = (0.0, 0.41, -0.41, 1.0)
"""By 0, 45, −45 and 90 degrees."""
_PAINTS = 3
_TYPICAL, _TYPICAL_PLACE = 0.65, 0.45
"""How often an object has its class's colours, and its background."""
_WOBBLE = 0.10
"""Standard deviation of each part's place and size."""
_TINT = 0.6
"""How strong colours are."""


def draw_ten(random: Random, label: int, count: int) -> Pixels:
    """Objects of ten families."""
    return _draw(random, _family(1, label), _taste(1, label), count)


def draw_hundred(random: Random, label: int, count: int) -> Pixels:
    """Objects of twenty families of five, which share a body and differ in their other parts."""
    family, member = divmod(label, MEMBERS)
    return _draw(random, _member(family, member), _taste(2, label), count)


@cache
def _family(seed: int, family: int) -> tuple[CanvasShape, ...]:
    """A body and four further parts, two of them a pair."""
    random = Random([50, seed, family])
    body = CanvasShape(
        kind=_kind(random),
        x=0.0,
        y=0.0,
        width=0.32 + 0.28 * random.random_sample(),
        height=0.25 + 0.28 * random.random_sample(),
        taper=0.8 * random.random_sample(),
    )
    single = [_limb(random, body, paint) for paint in (1, 2)]
    return (*_limb_pair(random, body), body, *single)


@cache
def _member(family: int, member: int) -> tuple[CanvasShape, ...]:
    """The family's pair and body, and other parts of one's own."""
    random = Random([51, family, member])
    shared = _family(2, family)[:3]
    return (*shared, *(_limb(random, shared[-1], paint) for paint in (1, 2)))


def _limb_pair(random: Random, body: CanvasShape) -> tuple[CanvasShape, CanvasShape]:
    """Two alike: left and right, or above and below."""
    limb = _limb(random, body, paint=1)
    if random.random_sample() < 0.5 and limb.x:
        return limb, replace(limb, x=-limb.x, turn=-limb.turn)
    return limb, replace(limb, y=-limb.y or 0.4, turn=-limb.turn)


def _limb(random: Random, body: CanvasShape, paint: int) -> CanvasShape:
    """A part at one of eight places on the rim of the body, or in its middle."""
    across, down = np.floor(3.0 * random.random_sample(2)) - 1.0
    return CanvasShape(
        kind=_kind(random),
        x=float(across * (body.width + 0.12)),
        y=float(down * (body.height + 0.12)),
        width=0.2 + 0.22 * random.random_sample(),
        height=0.1 + 0.12 * random.random_sample(),
        turn=_TURNS[int(random.random_sample() * len(_TURNS))],
        taper=random.random_sample(),
        paint=paint,
    )


def _kind(random: Random) -> str:
    return _KINDS[int(random.random_sample() * len(_KINDS))]


@cache
def _taste(seed: int, label: int) -> Floats:
    """The colours that a class leans towards: its parts', and that behind it."""
    return muted(Random([52, seed, label]), _PAINTS + 1, _TINT)


def _draw(random: Random, shapes: tuple[CanvasShape, ...], taste: Floats, count: int) -> Pixels:
    planes = _background(random, _lean(random, taste[_PAINTS:], _TYPICAL_PLACE, count)[0], count)
    x, y, scale = _pose(random, count)
    palette = _lean(random, taste[:_PAINTS], _TYPICAL, count)
    light = 1.0 + slope(random, count, 0.35)
    light = light + between(random, count, 0.0, 0.25) * _surface(random, x, y, count)
    for shape in shapes:
        wobble = [bell(random, count, _WOBBLE * size) for size in (1.0, 1.0, 1.5, 1.5)]
        here = cover(shape, x, y, scale, wobble)
        planes = paint(planes, [plane * light for plane in palette[shape.paint]], here)
    planes = _clutter(random, planes, count, 0.7, 1.2)
    bright, contrast = between(random, count, -0.12, 0.12), between(random, count, 0.5, 1.0)
    planes = [(plane - 0.5) * contrast + (0.5 + bright) for plane in planes]
    return expose(random, planes, between(random, count, 0.02, 0.12))


def _pose(random: Random, count: int) -> tuple[Floats, Floats, Floats]:
    """The object's coordinates at each pixel, and its size."""
    scale = between(random, count, 0.6, 1.05)
    cosine, sine = direction(random, count, 0.15)
    lean = bell(random, count, 0.12)
    dx, dy = between(random, count, -0.18, 0.18), between(random, count, -0.18, 0.18)
    mirror = np.where(happens(random, count, 0.5), -1.0, 1.0).astype(np.float32)
    squeeze = between(random, count, 0.85, 1.2)
    x = ((ACROSS - dx) * cosine + (DOWN - dy) * sine) / scale
    y = ((DOWN - dy) * cosine - (ACROSS - dx) * sine) / (scale * squeeze)
    return (x + lean * y) * mirror, y, scale


def _lean(random: Random, taste: Floats, chance: float, count: int) -> list[list[Floats]]:
    """Colours for each image: now and then all near its class's, else any."""
    typical = random.random_sample((count, 1)) < chance
    palette = []
    for own in taste:
        near = own + 0.25 * (colours(random, count) - 0.5)
        other = muted(random, count, _TINT)
        palette.append(flat(np.where(typical, near, other).astype(np.float32)))
    return palette


def _surface(random: Random, x: Floats, y: Floats, count: int) -> Floats:
    """What covers objects: stripes along or across, or blotches."""
    width = between(random, count, 2.0, 5.0)
    along = np.where(happens(random, count, 0.5), x, y)
    stripes = 2.0 * triangle(along * width) - 1.0
    return np.where(happens(random, count, 0.4), stripes, noise(random, count, 6, 6))


def _background(random: Random, above: list[Floats], count: int) -> list[Floats]:
    """Sky and ground, blotches, and a thing that belongs to no class."""
    below = flat(muted(random, count, _TINT))
    tilt = between(random, count, -0.3, 0.3)
    horizon = step(DOWN + tilt * ACROSS - between(random, count, -0.8, 0.8), 3.0)
    planes = paint(above, below, horizon)
    blotch = between(random, count, 0.0, 0.3) * noise(random, count, 4, 4)
    fine = between(random, count, 0.0, 0.2) * noise(random, count, 12, 12)
    planes = [plane + blotch + fine for plane in planes]
    return _clutter(random, planes, count, 0.8, 1.1)


def _clutter(
    random: Random, planes: list[Floats], count: int, near: float, far: float
) -> list[Floats]:
    """A bar or blob somewhere towards the rim."""
    cosine, sine = direction(random, count, 1.0)
    away = between(random, count, near, far) * np.where(happens(random, count, 0.5), -1.0, 1.0)
    u = ACROSS * cosine + DOWN * sine - away.astype(np.float32)
    v = DOWN * cosine - ACROSS * sine
    long, thin = between(random, count, 0.2, 1.2), between(random, count, 0.1, 0.35)
    here = step(1.0 - np.maximum(np.abs(u / thin), np.abs(v / long)), 3.0)
    return paint(planes, flat(muted(random, count, _TINT)), here)
