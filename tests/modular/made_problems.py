"""Small problems of random images, built without any suite."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch

from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.modular.blocks import Weights
from bell_bench.modular.learner import initial
from bell_bench.problem import Problem, Split

CONCEPT = Type("concept", (8,))


def convolutional(width: int, hidden: int = 64) -> tuple[ModuleSpec, ...]:
    image, map1, map2 = (
        Type("image", (28, 28)),
        Type("map1", (12, 12, width)),
        Type("map2", (4, 4, width)),
    )
    hidden1, hidden2 = Type("hidden1", (hidden,)), Type("hidden2", (hidden,))
    geometry = (("kernel", 5), ("stride", 2))
    return (
        ModuleSpec("conv", image, map1, settings=geometry),
        ModuleSpec("conv", map1, map2, settings=geometry),
        ModuleSpec("linear", map2, hidden1),
        ModuleSpec("linear", hidden1, hidden2),
        ModuleSpec("linear", hidden2, CONCEPT, "softmax"),
    )


def vector(hidden: int = 64) -> tuple[ModuleSpec, ...]:
    middle = Type("vector-hidden", (hidden,))
    return (
        ModuleSpec("linear", Type("vector", (784,)), middle),
        ModuleSpec("linear", middle, CONCEPT, "softmax"),
    )


def relational(hidden: int = 64) -> tuple[ModuleSpec, ...]:
    pair1, pair2 = Type("pair1", (hidden,)), Type("pair2", (hidden,))
    return (
        ModuleSpec("linear", CONCEPT, pair1, join=2),
        ModuleSpec("linear", pair1, pair2),
        ModuleSpec("linear", pair2, Type("answer", (1,)), "sigmoid"),
    )


def normalised(width: int, side: int = 12, classes: int = 8) -> tuple[ModuleSpec, ...]:
    """CTrL's modules: 12 → 7 → 4 → 3 → 2, or 32 → 17 → 9 → 5 → 3."""
    geometry = (("kernel", 3), ("padding", 2), ("pool", 2))
    types = [Type("colour", (side, side, 3))]
    for layer in range(4):
        side = (side + 2) // 2
        types.append(Type(f"colour-map{layer + 1}", (side, side, width)))
    convolutions = tuple(
        ModuleSpec("conv-norm-pool", a, b, settings=geometry) for a, b in pairwise(types)
    )
    head = ModuleSpec("head", types[-1], Type("classes", (classes,)), "softmax")
    return (*convolutions, head)


def residual(width: int, side: int = 8, classes: int = 8) -> tuple[ModuleSpec, ...]:
    """CTrL's small ResNet, of a stem, stages of stride 1, 2 and 2, and a head."""
    types = [Type("colour", (side, side, 3)), Type("stem", (side, side, width))]
    modules = [ModuleSpec("conv-norm", *types)]
    for stage, stride in enumerate((1, 2, 2)):
        side //= stride
        types.append(Type(f"stage{stage + 1}", (side, side, width)))
        modules.append(ModuleSpec("residual", *types[-2:], settings=(("stride", stride),)))
    return (*modules, ModuleSpec("mean-head", types[-1], Type("classes", (classes,)), "softmax"))


def split(random: np.random.RandomState, images: int, points: int, classes: int, space) -> Split:
    """Random images around one prototype per class; a pair's label is whether classes match."""
    prototypes = np.random.RandomState(0).randint(0, 256, (8, *space))
    kinds = random.randint(0, 8, images)
    noise = random.randint(0, 256, (images, *space))
    made = ((prototypes[kinds] + noise) // 2).astype(np.uint8)
    index = random.randint(0, images, (points, 1 if classes > 2 else 2)).astype(np.int32)
    shown = kinds[index]
    labels = shown[:, 0] if classes > 2 else (shown[:, 0] < 4) ^ (shown[:, 1] < 4)
    return Split(made, index, mean=127.0, std=64.0, labels=labels.astype(np.int64))


def problem(
    architecture: Architecture,
    *,
    points: int = 100,
    images: int = 40,
    classes: int = 2,
    validation: int = 60,
    seed: int = 1,
) -> Problem:
    space = architecture[0].source.shape
    random = np.random.RandomState(seed)
    return Problem(
        index=0,
        name="made",
        train=split(random, images, points, classes, space),
        validation=split(random, images, validation, classes, space),
        classes=classes,
        architecture=architecture,
    )


def pairs(width: int = 8, **sizes: int) -> Problem:
    """A problem of pairs of images, 8 modules."""
    return problem(Architecture(convolutional(width) + relational()), **sizes)


def singles(width: int = 8, **sizes: int) -> Problem:
    """Single images of 8 classes, 5 modules (S_few)."""
    return problem(Architecture(convolutional(width)), classes=8, **sizes)


def coloured(width: int = 6, side: int = 12, **sizes: int) -> Problem:
    """Single colour images of 8 classes, CTrL's 5 modules."""
    return problem(Architecture(normalised(width, side)), classes=8, **sizes)


def residuals(width: int = 8, **sizes: int) -> Problem:
    """Single colour images of 8 classes, a ResNet of 5 modules."""
    return problem(Architecture(residual(width)), classes=8, **sizes)


def vectors(**sizes: int) -> Problem:
    """Pairs of vectors, 5 modules (S_sp)."""
    return problem(Architecture(vector() + relational()), **sizes)


def library(
    architecture: Architecture, layers, dtype: torch.dtype = torch.float32
) -> dict[int, Weights]:
    """Modules to reuse, with biases that are not zero and statistics that are not the first."""
    made = {layer: initial(architecture, layer, 99, dtype) for layer in layers}
    generator = torch.Generator().manual_seed(5)
    for weights in made.values():
        for name, tensor in weights.items():
            if name.endswith(("norm_weight", "running_var")):
                tensor *= 1.5 - torch.rand(tensor.shape, generator=generator)
            elif name.endswith(("norm_bias", "running_mean")):
                tensor += 0.2 * torch.rand(tensor.shape, generator=generator) - 0.1
            elif name == "bias":
                tensor += 0.05
    return made
