"""The kinds of modules: what weights each has, and what it computes before its activation.

Every kind stores its weights as a matrix (inputs, outputs), so that it is one matrix product. A
convolution's inputs are the patch in the order (row, column, channel); maps are channels-last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from bell_bench.errors import unknown
from bell_bench.modular.architecture import ModuleSpec

Weights = dict[str, Tensor]
"""A module's tensors by name: its parameters, and its buffers if its kind has any."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "softmax": lambda x: torch.softmax(x, dim=-1),
    "sigmoid": torch.sigmoid,
    "none": lambda x: x,
}


class Block(Protocol):
    """A kind of module. ``buffers`` names the weights that are not trained by gradients."""

    buffers: tuple[str, ...]

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        """New weights, drawn on the CPU from ``generator`` alone."""
        ...

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        """The output before the activation, which may be computed in its place."""
        ...


class Linear:
    """A fully connected layer on whatever comes in, flattened and, at a join, concatenated."""

    buffers: tuple[str, ...] = ()

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        inputs = spec.join * math.prod(spec.source.shape)
        return _xavier(spec, inputs, math.prod(spec.target.shape), 1, generator, dtype)

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        return torch.addmm(weights["bias"], x.flatten(1), weights["weight"])


class Conv:
    """A square convolution without padding, on images (H, W) or maps (H, W, C)."""

    buffers: tuple[str, ...] = ()

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        channels = spec.source.shape[2] if len(spec.source.shape) == 3 else 1
        taps = spec.setting("kernel") ** 2
        return _xavier(spec, taps * channels, spec.target.shape[-1], taps, generator, dtype)

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        maps = x if x.dim() == 4 else x.unsqueeze(-1)
        kernel, stride = spec.setting("kernel"), spec.setting("stride")
        output = _Convolution.apply(maps, weights["weight"], weights["bias"], kernel, stride)  # type: ignore[no-untyped-call]
        return cast(Tensor, output)


BLOCKS: dict[str, Block] = {"linear": Linear(), "conv": Conv()}


def block(spec: ModuleSpec) -> Block:
    """The kind of a spec, or an error that names the known ones."""
    if spec.kind not in BLOCKS:
        raise unknown("kind of module", spec.kind, BLOCKS)
    return BLOCKS[spec.kind]


def _xavier(
    spec: ModuleSpec,
    inputs: int,
    outputs: int,
    taps: int,
    generator: torch.Generator,
    dtype: torch.dtype,
) -> Weights:
    """Xavier-uniform with the gain of the nonlinearity, zero bias.

    Drawn in double precision, so that every precision starts from the same weights.
    """
    gain = math.sqrt(2.0) if spec.activation == "relu" else 1.0
    bound = gain * math.sqrt(6.0 / (inputs + taps * outputs))
    uniform = torch.rand(inputs, outputs, generator=generator, dtype=torch.float64)
    weight = (2.0 * uniform - 1.0) * bound
    return {"weight": weight.to(dtype), "bias": torch.zeros(outputs, dtype=dtype)}


class _Convolution(torch.autograd.Function):
    """A convolution as one matrix product of patches, and so its gradients.

    Several times faster on a CPU than the built-in one for strided, channels-last maps; above all
    in the gradient of the input.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, kernel: int, stride: int
    ) -> Tensor:
        images, height, width, channels = x.shape
        windows, rows, columns = _windows(height, width, kernel, stride, x.device)
        pixels = x.reshape(images, height * width, channels)
        patches = pixels.index_select(1, windows).view(-1, len(weight))
        output = x.new_empty(images, rows, columns, len(bias))
        torch.addmm(bias, patches, weight, out=output.view(-1, len(bias)))
        ctx.save_for_backward(patches if ctx.needs_input_grad[1] else None, weight)
        ctx.geometry = x.shape, kernel, stride
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        patches, weight = ctx.saved_tensors
        output = gradients[0]
        matrix = output.reshape(-1, output.shape[-1])
        to_x, to_weight, to_bias = ctx.needs_input_grad[:3]
        return (
            _input_gradient(output, weight, *ctx.geometry) if to_x else None,
            patches.t() @ matrix if to_weight else None,
            matrix.sum(0) if to_bias else None,
            None,
            None,
        )


@lru_cache(maxsize=64)
def _windows(
    height: int, width: int, kernel: int, stride: int, device: torch.device
) -> tuple[Tensor, int, int]:
    """Which pixels form the patches, one patch after another, in how many rows and columns."""
    down = torch.arange(0, height - kernel + 1, stride)
    right = torch.arange(0, width - kernel + 1, stride)
    corners = (down[:, None] * width + right).flatten()
    taps = torch.arange(kernel)
    offsets = (taps[:, None] * width + taps).flatten()
    return (corners[:, None] + offsets).flatten().to(device), len(down), len(right)


def _input_gradient(
    output: Tensor, weight: Tensor, shape: torch.Size, kernel: int, stride: int
) -> Tensor:
    """The gradient of maps of ``shape``, of that of their convolution.

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
