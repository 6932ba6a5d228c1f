"""Embedded stand-ins, bit-identical on every machine.

As in ``bell_bench_drawn.glyphs``: only numpy's frozen ``RandomState.random_sample`` and single
additions, multiplications, divisions, comparisons and square roots, which IEEE 754 rounds alike
everywhere. No sin, exp, power, matrix product or floating-point sum over an axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bell_bench_drawn.colour import digits, garments, objects, textures
from bell_bench_drawn.colour.canvas import SIDE, Pixels
from bell_bench_drawn.glyphs import SPLITS

VERSION = 2
"""Part of every cache key; changes when any pixel does."""
BLOCK = 64
"""Images drawn from one seed."""


@dataclass(frozen=True)
class Artist:
    """Who draws the stand-ins of a dataset, and how many of each class there are."""

    draw: Callable[[np.random.RandomState, int, int], Pixels]
    """From a random stream, a class and a number of images."""
    classes: int = 10
    train: int = 1000
    validation: int = 500
    test: int = 300


ARTISTS = {
    "cifar10": Artist(objects.draw_ten),
    "cifar100": Artist(objects.draw_hundred, 100, train=450, validation=50, test=100),
    "svhn": Artist(digits.draw_in_clutter),
    "dtd": Artist(textures.draw, 47, train=53, validation=27, test=40),
    "mnist": Artist(digits.draw_plain),
    "fashion_mnist": Artist(garments.draw),
}
_SEEDS = {name: 100 + place for place, name in enumerate(ARTISTS)}


def draw(name: str, label: int, split: str, count: int) -> Pixels:
    """The first ``count`` images (n, 32, 32, 3) of a class in a split."""
    images = np.empty((count, SIDE, SIDE, 3), dtype=np.uint8)
    for start in range(0, count, BLOCK):
        seed = [_SEEDS[name], label, SPLITS.index(split), start // BLOCK]
        block = ARTISTS[name].draw(np.random.RandomState(seed), label, BLOCK)
        images[start : start + BLOCK] = block[: count - start]
    return images


def draw_pool(name: str, split: str, count: int) -> tuple[Pixels, NDArray[np.int64]]:
    """Return the first ``count`` images of a split and their labels, which go round the classes."""
    classes = ARTISTS[name].classes
    each = -(-count // classes)
    images = np.empty((each, classes, SIDE, SIDE, 3), dtype=np.uint8)
    for label in range(classes):
        images[:, label] = draw(name, label, split, each)
    labels = np.arange(count, dtype=np.int64) % classes
    return images.reshape(-1, SIDE, SIDE, 3)[:count], labels
