"""BELL's networks: a CNN per image, its two answers joined, and an MLP on top."""

from __future__ import annotations

from itertools import pairwise

from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.suites.bell.labellings import SIDE

HIDDEN = 64
PIXELS = 28
CONCEPT = Type("concept", (SIDE,))
"""A softmax over the eight classes of an image."""


def _conv(source: Type, target: Type) -> ModuleSpec:
    return ModuleSpec("conv", source, target, settings=(("kernel", 5), ("stride", 2)))


def _dense(source: Type, target: Type, activation: str = "relu", join: int = 1) -> ModuleSpec:
    return ModuleSpec("linear", source, target, activation, join=join)


def image_modules(width: int) -> tuple[ModuleSpec, ...]:
    """ζ_CNN: two convolutions and three fully connected layers, 28x28 to a softmax over 8."""
    image = Type("image", (PIXELS, PIXELS))
    map1, map2 = Type("map1", (12, 12, width)), Type("map2", (4, 4, width))
    hidden1, hidden2 = Type("image-hidden1", (HIDDEN,)), Type("image-hidden2", (HIDDEN,))
    return (
        _conv(image, map1),
        _conv(map1, map2),
        _dense(map2, hidden1),
        _dense(hidden1, hidden2),
        _dense(hidden2, CONCEPT, "softmax"),
    )


def vector_modules(layers: int) -> tuple[ModuleSpec, ...]:
    """ζ_FC for S_sp's last problem: fully connected layers on 784 numbers."""
    types = [Type("vector", (PIXELS * PIXELS,))]
    types += [Type(f"vector-hidden{i + 1}", (HIDDEN,)) for i in range(layers - 1)]
    hidden = tuple(_dense(a, b) for a, b in pairwise(types))
    return (*hidden, _dense(types[-1], CONCEPT, "softmax"))


def pair_modules() -> tuple[ModuleSpec, ...]:
    """ζ_MLP: from two concepts to one answer."""
    pair1, pair2 = Type("pair-hidden1", (HIDDEN,)), Type("pair-hidden2", (HIDDEN,))
    return (
        _dense(CONCEPT, pair1, join=2),
        _dense(pair1, pair2),
        _dense(pair2, Type("answer", (1,)), "sigmoid"),
    )


def architecture(space: str, pairs: bool, width: int, vector_layers: int) -> Architecture:
    """The network for a problem on ``space`` (image or vector), of pairs or single images."""
    lower = image_modules(width) if space == "image" else vector_modules(vector_layers)
    return Architecture(lower + pair_modules() if pairs else lower)
