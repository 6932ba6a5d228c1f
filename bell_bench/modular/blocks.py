"""The kinds of modules: which weights each has, and what it computes before its activation.

Every kind stores its weights as a matrix (inputs, outputs), so that it is one matrix product. A
convolution's inputs are the patch in the order (row, column, channel); maps are channels-last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bell_bench.errors import BellBenchError, unknown
from bell_bench.import_strings import load_object
from bell_bench.modular.architecture import ModuleSpec
from bell_bench.modular.initialisation import torch_default, uniform
from bell_bench.modular.kind import Block, Weights
from bell_bench.modular.normalised import ConvNormPool
from bell_bench.modular.private_torch import relu_gradient
from bell_bench.modular.residual import ConvNorm, MeanHead, ResidualStage

__all__ = ["ACTIVATIONS", "BLOCKS", "DERIVATIVES", "Block", "Weights", "block"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "softmax": lambda x: torch.softmax(x, dim=-1),
    "sigmoid": torch.sigmoid,
    "none": lambda x: x,
}


DERIVATIVES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "relu": relu_gradient,
    "softmax": lambda g, y: y * (g - (g * y).sum(-1, keepdim=True)),
    "sigmoid": lambda g, y: g * y * (1 - y),
    "none": lambda g, y: g,
}
"""Functions from an activation's output and its gradient to the gradient of its input."""


class Linear(Block):
    """A fully connected layer. Its input is flattened and, at a join, concatenated."""

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        inputs = spec.join * math.prod(spec.source.shape)
        return _xavier(spec, inputs, math.prod(spec.target.shape), 1, generator, dtype)

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        return torch.addmm(weights["bias"], x.flatten(1), weights["weight"])

    def forward(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool
    ) -> tuple[Tensor, Any]:
        rows = x.flatten(1)
        return torch.addmm(weights["bias"], rows, weights["weight"]), (rows, x.shape)

    def backward(
        self,
        weights: Mapping[str, Tensor],
        saved: Any,
        gradient: Tensor,
        into: Mapping[str, Tensor] | None,
        to_input: bool,
    ) -> Tensor | None:
        rows, shape = saved
        _matrix_gradients(rows, gradient, into)
        return (gradient @ weights["weight"].t()).view(shape) if to_input else None


class Conv(Block):
    """A square convolution without padding, on images (H, W) or maps (H, W, C)."""

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        channels = spec.source.shape[2] if len(spec.source.shape) == 3 else 1
        taps = spec.setting("kernel") ** 2
        return _xavier(spec, taps * channels, spec.target.shape[-1], taps, generator, dtype)

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        return self.forward(spec, weights, x, training)[0]

    def forward(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool
    ) -> tuple[Tensor, Any]:
        maps = x if x.dim() == 4 else x.unsqueeze(-1)
        images, height, width, channels = maps.shape
        kernel, stride = spec.setting("kernel"), spec.setting("stride")
        windows, rows, columns = _windows(height, width, kernel, stride, x.device)
        pixels = maps.reshape(images, height * width, channels)
        patches = pixels.index_select(1, windows).view(images * rows * columns, -1)
        output = torch.addmm(weights["bias"], patches, weights["weight"])
        return output.view(images, rows, columns, -1), (patches, maps.shape, kernel, stride)

    def backward(
        self,
        weights: Mapping[str, Tensor],
        saved: Any,
        gradient: Tensor,
        into: Mapping[str, Tensor] | None,
        to_input: bool,
    ) -> Tensor | None:
        patches, *geometry = saved
        _matrix_gradients(patches, gradient.view(len(patches), -1), into)
        return _input_gradient(gradient, weights["weight"], *geometry) if to_input else None


class HeadBlock(Linear):
    """A fully connected layer whose weights begin as nn.Linear's do."""

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        inputs, outputs = math.prod(spec.source.shape), math.prod(spec.target.shape)
        return torch_default(spec.join * inputs, outputs, generator, dtype)


BLOCKS: dict[str, Block] = {
    "linear": Linear(),
    "conv": Conv(),
    "head": HeadBlock(),
    "conv-norm-pool": ConvNormPool(),
    "conv-norm": ConvNorm(),
    "residual": ResidualStage(),
    "mean-head": MeanHead(),
}


def block(spec: ModuleSpec) -> Block:
    """Return the kind of a spec: one of ours, or a suite's own by its import string."""
    if ":" in spec.kind:
        return _loaded(spec.kind)
    if spec.kind not in BLOCKS:
        raise unknown("kind of module", spec.kind, BLOCKS, "(or an import string of your own)")
    return BLOCKS[spec.kind]


@lru_cache(maxsize=256)
def _loaded(kind: str) -> Block:
    """Return an instance of the class that an import string names."""
    target = load_object(kind)
    if not (isinstance(target, type) and issubclass(target, Block)):
        raise BellBenchError(f"{kind} is {target!r}; a kind of module is a subclass of Block")
    return target()


def _xavier(
    spec: ModuleSpec,
    inputs: int,
    outputs: int,
    taps: int,
    generator: torch.Generator,
    dtype: torch.dtype,
) -> Weights:
    """Return Xavier-uniform weights with the gain of the nonlinearity, and a zero bias."""
    gain = math.sqrt(2.0) if spec.activation == "relu" else 1.0
    bound = gain * math.sqrt(6.0 / (inputs + taps * outputs))
    weight = uniform((inputs, outputs), bound, generator, dtype)
    return {"weight": weight, "bias": torch.zeros(outputs, dtype=dtype)}


def _matrix_gradients(inputs: Tensor, gradient: Tensor, into: Mapping[str, Tensor] | None) -> None:
    if into is not None:
        torch.mm(inputs.t(), gradient, out=into["weight"])
        torch.sum(gradient, 0, out=into["bias"])


@lru_cache(maxsize=64)
def _windows(
    height: int, width: int, kernel: int, stride: int, device: torch.device
) -> tuple[Tensor, int, int]:
    """Return which pixels form the patches, one patch after another, and how many rows and columns
    of patches there are.

    Computed in numpy, because a count of torch's operators would otherwise be higher at the first
    use in a process.
    """
    down = np.arange(0, height - kernel + 1, stride)
    right = np.arange(0, width - kernel + 1, stride)
    corners = np.add.outer(down * width, right).ravel()
    offsets = np.add.outer(np.arange(kernel) * width, np.arange(kernel)).ravel()
    pixels = torch.from_numpy(np.add.outer(corners, offsets).ravel())
    return pixels.to(device), len(down), len(right)


def _input_gradient(
    output: Tensor, weight: Tensor, shape: torch.Size, kernel: int, stride: int
) -> Tensor:
    """Return the gradient of maps of ``shape`` from the gradient of their convolution.

    One matrix product for each row of the kernel keeps the patches in the cache until they are
    added up. Taps less than a stride apart never overlap, so each such group is one addition.
    """
    images, rows, columns, _ = output.shape
    _, height, width, channels = shape
    line, patch, step = width * channels, kernel * channels, stride * channels
    matrix = output.reshape(-1, output.shape[-1])
    patches = matrix.new_empty(len(matrix), patch)
    parts = torch.split(patches.view(images, rows, columns, patch), step, dim=3)
    result = output.new_zeros(shape)
    for top, taps in enumerate(weight.view(kernel, patch, -1).transpose(1, 2).unbind()):
        torch.mm(matrix, taps, out=patches)
        for number, part in enumerate(parts):
            strides = height * line, stride * line, step, 1
            result.as_strided(part.shape, strides, top * line + number * step).add_(part)
    return result
