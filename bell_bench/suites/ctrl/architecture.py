"""CTrL's networks: four convolutions and a linear head, or a small ResNet of six modules."""

from __future__ import annotations

from itertools import pairwise

from bell_bench.modular.architecture import Architecture, ModuleSpec, Type

SIDE = 32
IMAGE = Type("colour", (SIDE, SIDE, 3))
KERNEL, PADDING, POOL = 3, 2, 2
CONVOLUTIONS = 4
STRIDES = (1, 2, 2, 2)
"""Of the ResNet's stages; its stem has stride 1, too."""


def _head(kind: str, source: Type, classes: int) -> ModuleSpec:
    """The type tells how many classes there are, so that a head fits only as many."""
    return ModuleSpec(kind, source, Type("classes", (classes,)), "softmax")


def convolutional(width: int, classes: int) -> Architecture:
    """Convolution, batch normalisation, ReLU and pooling, 32 → 17 → 9 → 5 → 3, then a head."""
    geometry = (("kernel", KERNEL), ("padding", PADDING), ("pool", POOL))
    types, side = [IMAGE], SIDE
    for layer in range(CONVOLUTIONS):
        side = (side + 2 * PADDING - KERNEL + 1) // POOL
        types.append(Type(f"colour-map{layer + 1}", (side, side, width)))
    modules = [ModuleSpec("conv-norm-pool", a, b, settings=geometry) for a, b in pairwise(types)]
    return Architecture((*modules, _head("head", types[-1], classes)))


def resnet(width: int, classes: int) -> Architecture:
    """A stem, four stages of two basic blocks, and a head on the mean of the last map."""
    source, side = Type("colour-stem", (SIDE, SIDE, width)), SIDE
    modules = [ModuleSpec("conv-norm", IMAGE, source)]
    for stage, stride in enumerate(STRIDES):
        side //= stride
        target = Type(f"colour-stage{stage + 1}", (side, side, width))
        modules.append(ModuleSpec("residual", source, target, settings=(("stride", stride),)))
        source = target
    return Architecture((*modules, _head("mean-head", source, classes)))
