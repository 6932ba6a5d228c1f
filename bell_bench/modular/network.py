"""Run a chain of modules on inputs: each unique image once, in chunks of bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import torch
from torch import Tensor

from bell_bench.modular.architecture import Architecture, ModuleSpec
from bell_bench.modular.blocks import ACTIVATIONS, Weights, block
from bell_bench.problem import Inputs

IMAGES = 64
"""How many images are computed at once, to bound memory."""
ROWS = 4096
"""How many inputs are computed at once above the join, where they are small."""

Modules: TypeAlias = Mapping[int, Weights]
"""The weights of a network by layer."""


def run_modules(
    architecture: Architecture,
    weights: Modules,
    x: Tensor,
    layers: range,
    *,
    logits: bool = False,
) -> Tensor:
    """Run consecutive layers of a network on ``x`` and return the output of the last of them.

    ``weights`` holds each layer's weights by the layer's number. With ``logits``, the network's
    last layer gives its output before the activation.
    """
    for layer in layers:
        spec = architecture[layer]
        x = block(spec).apply(spec, weights[layer], x)
        if not (logits and layer == len(architecture) - 1):
            x = ACTIVATIONS[spec.activation](x)
    return x


def new_weights(
    spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
) -> Weights:
    """Return random weights for a new module, drawn from ``generator`` as its kind begins."""
    return block(spec).init(spec, generator, dtype)


def class_scores(logits: Tensor) -> Tensor:
    """Return the probability of each class, (n, classes), from a network's logits.

    A network for a binary problem has one logit, which is positive for class 1.
    """
    if logits.shape[1] > 1:
        return torch.softmax(logits, dim=1)
    return torch.cat([torch.sigmoid(-logits), torch.sigmoid(logits)], dim=1)


def in_chunks(function: Callable[[Tensor], Tensor], x: Tensor, size: int) -> Tensor:
    """Apply ``function`` to the rows of ``x``, ``size`` rows at a time."""
    if len(x) <= size:
        return function(x)
    first = function(x[:size])
    result = first.new_empty(len(x), *first.shape[1:])
    result[:size] = first
    for start in range(size, len(x), size):
        result[start : start + size] = function(x[start : start + size])
    return result


def pixels(inputs: Inputs, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return the unique images, standardised, on the device and in the type of the computation."""
    return torch.from_numpy(inputs.pixels()).to(device, dtype)


def rows(inputs: Inputs, device: torch.device) -> Tensor:
    """Return which images form each input, (n, arity)."""
    return torch.from_numpy(inputs.index).to(device, torch.int64)


def move(weights: Modules, device: torch.device, dtype: torch.dtype) -> dict[int, Weights]:
    """Return the same weights on the device and in the type of the computation."""
    return {
        layer: {name: tensor.detach().to(device, dtype) for name, tensor in module.items()}
        for layer, module in weights.items()
    }


@torch.no_grad()
def features(
    architecture: Architecture,
    weights: Modules,
    inputs: Inputs,
    layers: int,
    *,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Return the output after the first ``layers`` modules, activations included.

    It has one row per unique image up to the joint layer, one per input above it.
    """
    return _output(architecture, weights, inputs, layers, device, dtype, logits=False)


@torch.no_grad()
def logits(
    architecture: Architecture,
    weights: Modules,
    inputs: Inputs,
    *,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Return the last module's output for each input before its activation, (n, outputs)."""
    length = len(architecture)
    output = _output(architecture, weights, inputs, length, device, dtype, logits=True)
    if architecture.joint == length:
        output = output[rows(inputs, device)[:, 0]]
    return output


@torch.no_grad()
def scores(
    architecture: Architecture,
    weights: Modules,
    inputs: Inputs,
    *,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Return the probability of each class for each input, (n, classes)."""
    return class_scores(logits(architecture, weights, inputs, device=device, dtype=dtype))


def _output(
    architecture: Architecture,
    weights: Modules,
    inputs: Inputs,
    layers: int,
    device: torch.device,
    dtype: torch.dtype,
    logits: bool,
) -> Tensor:
    modules = move(weights, device, dtype)
    below = range(min(layers, architecture.joint))
    above = range(architecture.joint, layers)
    images = in_chunks(
        lambda x: run_modules(architecture, modules, x, below, logits=logits),
        pixels(inputs, device, dtype),
        IMAGES,
    )
    if not above:
        return images
    return in_chunks(
        lambda index: run_modules(architecture, modules, images[index], above, logits=logits),
        rows(inputs, device),
        ROWS,
    )
