"""Tiny problems, a network of two layers and a job's context, for the tests beside this."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np
import torch

from bell_bench.modular import flops
from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem, Split
from bell_bench_algorithms.lmc.head import Head
from bell_bench_algorithms.lmc.layer import Layer
from bell_bench_algorithms.lmc.module import LmcModule
from bell_bench_algorithms.lmc.network import Network
from bell_bench_algorithms.lmc.options import PUBLISHED, Hyperparameters
from bell_bench_algorithms.lmc.outliers import Window
from bell_bench_algorithms.lmc.shapes import shape

SIDE, WIDTH, CLASSES = 8, 4, 3
SETTINGS = TrainingSettings(
    learning_rate=0.01, optimiser="adam", batch=16, max_epochs=6, patience=10_000
)
VALUES = PUBLISHED["s_minus"]


def block(side: int, channels: int, width: int, layer: int) -> ModuleSpec:
    """A CTrL module, as far as its types tell."""
    below, above = (side, side, channels), ((side + 2) // 2, (side + 2) // 2, width)
    geometry = (("kernel", 3), ("padding", 2), ("pool", 2))
    types = Type(f"map{layer}", below), Type(f"map{layer + 1}", above)
    return ModuleSpec("conv-norm-pool", *types, settings=geometry)


def architecture(side: int = SIDE, width: int = WIDTH, layers: int = 2, classes: int = CLASSES):
    specs, channels = [], 3
    for layer in range(layers):
        specs.append(block(side, channels, width, layer))
        side, channels = (side + 2) // 2, width
    head = ModuleSpec("head", specs[-1].target, Type("answer", (classes,)), "softmax")
    return Architecture((*specs, head))


BELL = Architecture(
    (
        ModuleSpec("conv", Type("image", (28, 28)), Type("map1", (12, 12, 4)),
                   settings=(("kernel", 5), ("stride", 2))),
        ModuleSpec("conv", Type("map1", (12, 12, 4)), Type("map2", (4, 4, 4)),
                   settings=(("kernel", 5), ("stride", 2))),
        ModuleSpec("linear", Type("map2", (4, 4, 4)), Type("concept", (8,)), "softmax"),
        ModuleSpec("linear", Type("concept", (8,)), Type("pair", (6,)), join=2),
        ModuleSpec("linear", Type("pair", (6,)), Type("answer", (1,)), "sigmoid"),
    )
)  # fmt: skip
VECTORS = Architecture((ModuleSpec("linear", Type("vector", (9,)), Type("answer", (3,)), "none"),))


def bars(seed: int, points: int, bright: bool, shift: int = 0) -> Split:
    """Images with a bar in one of three places, dark on noise or bright on a gradient."""
    random = np.random.RandomState(seed)
    labels = random.randint(0, CLASSES, points).astype(np.int64)
    images = random.randint(0, 60, (points, SIDE, SIDE, 3))
    if bright:
        images += np.linspace(190, 0, SIDE).astype(int)[None, :, None, None]
    for image, label in zip(images, labels, strict=True):
        start = 2 * ((label + shift) % CLASSES) + 1
        image[:, start : start + 2] = (0, 10, 240) if bright else (230, 120, 20)
    index = np.arange(points, dtype=np.int32)[:, None]
    return Split(images.astype(np.uint8), index, 0.0, 255.0, labels=labels)


def make_problem(index: int = 0, points: int = 48, bright: bool = False, shift: int = 0) -> Problem:
    return Problem(
        index=index,
        name=f"problem {index}",
        train=bars(10 * index, points, bright, shift),
        validation=bars(10 * index + 1, 30, bright, shift),
        classes=CLASSES,
        architecture=architecture(),
    )


def pairs(index: int = 0) -> Problem:
    def split(seed: int, points: int) -> Split:
        random = np.random.RandomState(seed)
        images = random.standard_normal((10, 28, 28)).astype(np.float32)
        rows = random.randint(0, 10, (points, 2)).astype(np.int32)
        return Split(images, rows, labels=random.randint(0, 2, points).astype(np.int64))

    return Problem(
        index, "pairs", split(2 * index, 40), split(2 * index + 1, 20), 2, architecture=BELL
    )


def vectors(index: int = 0) -> Problem:
    def split(seed: int, points: int) -> Split:
        random = np.random.RandomState(seed)
        rows = np.arange(points, dtype=np.int32)[:, None]
        images = random.standard_normal((points, 9)).astype(np.float32)
        return Split(images, rows, labels=random.randint(0, 3, points).astype(np.int64))

    return Problem(
        index, "vectors", split(2 * index, 40), split(2 * index + 1, 20), 3, architecture=VECTORS
    )


def make_module(name: str, seed: int, spec: ModuleSpec, learnt: bool = True) -> LmcModule:
    """A random module; a learnt one has seen errors near 0.1."""
    module = LmcModule(shape(spec), name, Window(100, (0.1, 0.11, 0.12) if learnt else ()))
    module.draw(torch.Generator().manual_seed(seed))
    if learnt:
        module.freeze()
    return module


def make_network(modules: list[list[bool]], values: Hyperparameters = VALUES) -> Network:
    """A random network: for each layer, whether each of its modules is learnt."""
    whole = architecture(layers=len(modules))
    layers = [
        Layer(spec, [make_module(f"{place}.{number}", 10 * number + place, spec, learnt)
                     for place, learnt in enumerate(row)])
        for number, (spec, row) in enumerate(zip(whole.modules, modules, strict=False))
    ]  # fmt: skip
    generator = torch.Generator().manual_seed(99)
    head = Head.drawn(whole, len(layers), generator).copy()
    return Network(layers, head, values)


def images(count: int = 6, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(count, 3, SIDE, SIDE, generator=generator)
    return x.contiguous(memory_format=torch.channels_last)


class FakeContext:
    """What LMC uses of ``bell_bench.algorithm.Context``."""

    suite, sequence, protocol = "ctrl", "s_minus", None
    device = torch.device("cpu")

    def __init__(self, seed: int = 0, **settings: Any) -> None:
        self.seed = seed
        self.settings = dataclasses.replace(SETTINGS, **settings)
        self.notes: list[dict[str, Any]] = []
        self.charges: list[dict[str, float]] = []
        self.stored: dict[str, tuple[int, int]] = {}

    def generator(self, *names: object) -> torch.Generator:
        digest = hashlib.sha256(f"{self.seed} {names}".encode()).digest()
        return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)

    def count(self, function: Any) -> float:
        return flops.count(function).flops

    def charge(self, **amounts: float) -> None:
        self.charges.append(amounts)

    def account(self, what: str, size: int, parameters: int = 0) -> None:
        self.stored[what] = (size, parameters)

    def note(self, **facts: Any) -> None:
        self.notes.append(facts)
