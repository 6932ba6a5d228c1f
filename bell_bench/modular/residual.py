"""The modules of CTrL's small ResNet: stem, stages of two basic blocks, head; by autograd."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor
from torch.nn import functional

from bell_bench.modular.architecture import ModuleSpec
from bell_bench.modular.initialisation import torch_default, uniform
from bell_bench.modular.kind import Block, Weights
from bell_bench.modular.normalised import (
    EPSILON,
    MOMENTUM,
    STATISTICS,
    filters,
    norm_weights,
    planes,
    positions,
)

KERNEL = 3
BLOCKS = ("block1", "block2")
"""The blocks of a stage; the first may have a stride, and then a convolution beside it."""
CONVOLUTIONS = ("conv1", "conv2", "beside")


class ConvNorm(Block):
    """The stem: a 3x3 convolution without bias, and batch normalisation."""

    buffers = STATISTICS
    whole_batch = True

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        source, target = spec.source.shape[-1], spec.target.shape[-1]
        return _unit(KERNEL, source, target, generator, dtype)

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        return positions(_conv_norm(weights, "", planes(x), 1, training))


class ResidualStage(Block):
    """Two basic blocks, each of two 3x3 convolutions whose output is added to its input."""

    buffers = tuple(
        f"{block}_{conv}_{name}" for block in BLOCKS for conv in CONVOLUTIONS for name in STATISTICS
    )
    whole_batch = True

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        source, target = spec.source.shape[-1], spec.target.shape[-1]
        kernels = {"conv1": KERNEL, "conv2": KERNEL, "beside": 1}
        weights: Weights = {}
        for name, conv in _convolutions(spec):
            inputs = target if name == BLOCKS[1] or conv == "conv2" else source
            drawn = _unit(kernels[conv], inputs, target, generator, dtype)
            weights |= {f"{name}_{conv}_{key}": tensor for key, tensor in drawn.items()}
        return weights

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        maps = planes(x)
        for number, name in enumerate(BLOCKS):
            stride = spec.setting("stride") if number == 0 else 1
            if number:
                maps = torch.relu(maps)
            beside = maps
            if f"{name}_beside_weight" in weights:
                beside = _beside(weights, f"{name}_beside_", maps, stride, training)
            inner = torch.relu(_conv_norm(weights, f"{name}_conv1_", maps, stride, training))
            maps = beside + _conv_norm(weights, f"{name}_conv2_", inner, 1, training)
        return positions(maps)


class MeanHead(Block):
    """A fully connected layer on the mean over all positions of a map."""

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        outputs = math.prod(spec.target.shape)
        return torch_default(spec.source.shape[-1], outputs, generator, dtype)

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        return torch.addmm(weights["bias"], x.mean((1, 2)), weights["weight"])


def _convolutions(spec: ModuleSpec) -> Iterator[tuple[str, str]]:
    """Yield the names of a stage's blocks and of the convolutions in each."""
    for name in BLOCKS:
        yield name, "conv1"
        yield name, "conv2"
        if name == BLOCKS[0] and (spec.setting("stride") > 1 or _widens(spec)):
            yield name, "beside"


def _widens(spec: ModuleSpec) -> bool:
    return spec.source.shape[-1] != spec.target.shape[-1]


def _unit(
    kernel: int, source: int, target: int, generator: torch.Generator, dtype: torch.dtype
) -> Weights:
    """Return weights of a convolution without bias, as nn.Conv2d's, and its batch normalisation."""
    patch = kernel**2 * source
    weight = uniform((patch, target), 1.0 / math.sqrt(patch), generator, dtype)
    return {"weight": weight, **norm_weights(target, dtype)}


def _conv_norm(
    weights: Mapping[str, Tensor], name: str, maps: Tensor, stride: int, training: bool
) -> Tensor:
    """Apply a 3x3 convolution and its batch normalisation."""
    kernels = filters(weights[f"{name}weight"], KERNEL)
    convolved = functional.conv2d(maps, kernels, stride=stride, padding=KERNEL // 2)
    return _norm(weights, name, convolved, training)


def _beside(
    weights: Mapping[str, Tensor], name: str, maps: Tensor, stride: int, training: bool
) -> Tensor:
    """Apply a 1x1 convolution with a stride, and its batch normalisation.

    It is a product with every ``stride``-th position: torch 2.13's own convolution writes beyond
    its memory if maps are channels-last and have four channels.
    """
    convolved = positions(maps)[:, ::stride, ::stride] @ weights[f"{name}weight"]
    return _norm(weights, name, planes(convolved), training)


def _norm(weights: Mapping[str, Tensor], name: str, maps: Tensor, training: bool) -> Tensor:
    return functional.batch_norm(
        maps,
        weights[f"{name}running_mean"],
        weights[f"{name}running_var"],
        weights[f"{name}norm_weight"],
        weights[f"{name}norm_bias"],
        training=training,
        momentum=MOMENTUM,
        eps=EPSILON,
    )
