"""CTrL's module: convolution, batch normalisation and max-pooling, before its ReLU.

Maps are (image, row, column, channel); torch's kernels take them as they are, in channels-last
memory. A ReLU after the pooling equals one before it, so pooling is part of the module's output.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from bell_bench.modular import private_torch
from bell_bench.modular.architecture import ModuleSpec
from bell_bench.modular.initialisation import torch_default
from bell_bench.modular.kind import Block, Weights

MOMENTUM, EPSILON = 0.1, 1e-5
"""The settings of batch normalisation: torch's defaults; the paper's momentum is the same."""
STATISTICS = ("running_mean", "running_var")


def norm_weights(channels: int, dtype: torch.dtype) -> Weights:
    """Return batch normalisation's initial weights, as torch's: the identity, no statistics."""
    return {
        "norm_weight": torch.ones(channels, dtype=dtype),
        "norm_bias": torch.zeros(channels, dtype=dtype),
        "running_mean": torch.zeros(channels, dtype=dtype),
        "running_var": torch.ones(channels, dtype=dtype),
    }


def planes(x: Tensor) -> Tensor:
    """Return maps (image, row, column, channel) in torch's order, channel second; no copy."""
    return x.permute(0, 3, 1, 2)


def positions(x: Tensor) -> Tensor:
    """Undo ``planes``."""
    return x.permute(0, 2, 3, 1)


def filters(matrix: Tensor, kernel: int) -> Tensor:
    """Return a matrix (patch, outputs) in torch's order, (outputs, channels, rows, columns)."""
    return matrix.view(kernel, kernel, -1, matrix.shape[1]).permute(3, 2, 0, 1)


class Statistics(NamedTuple):
    """The statistics of a pass in training mode; the maps' channels were multiplied by ``sign``."""

    sign: Tensor
    mean: Tensor
    inverse: Tensor
    """One over the standard deviation."""
    normal: Tensor
    """The pooled maps, normalised."""


class NormalisedPass(NamedTuple):
    """The values that ``backward`` needs from ``forward``."""

    spec: ModuleSpec
    x: Tensor
    filters: Tensor
    maps: Tensor
    chosen: Tensor
    """Where each maximum was found."""
    seen: Statistics | None
    """None in evaluation mode."""


class ConvNormPool(Block):
    """A square convolution of stride 1, padded with zeros; batch normalisation; max-pooling.

    In evaluation mode the running statistics normalise, so they become part of the filters. In
    training mode the maxima are found before normalising, which then has a quarter of the work. If
    the normalisation would reverse a channel's sign, its filter is reversed instead.
    """

    buffers = STATISTICS
    whole_batch = True

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        channels = spec.target.shape[-1]
        patch = spec.setting("kernel") ** 2 * spec.source.shape[-1]
        drawn = torch_default(patch, channels, generator, dtype)
        return {**drawn, **norm_weights(channels, dtype)}

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        if not training:
            return positions(functional.max_pool2d(_folded(spec, weights, x), spec.setting("pool")))
        maps = functional.batch_norm(
            _convolve(spec, filters(weights["weight"], spec.setting("kernel")), weights["bias"], x),
            weights["running_mean"],
            weights["running_var"],
            weights["norm_weight"],
            weights["norm_bias"],
            training=True,
            momentum=MOMENTUM,
            eps=EPSILON,
        )
        return positions(functional.max_pool2d(maps, spec.setting("pool")))

    def forward(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool
    ) -> tuple[Tensor, Any]:
        if not private_torch.NORMALISED:
            return super().forward(spec, weights, x, training)
        pool = [spec.setting("pool")] * 2
        if not training:
            matrix, bias = _fold(weights)
            kernels = filters(matrix, spec.setting("kernel"))
            maps = _convolve(spec, kernels, bias, x)
            pooled, chosen = private_torch.max_pool(maps, pool)
            return positions(pooled), NormalisedPass(spec, x, kernels, maps, chosen, None)
        sign = 1.0 - 2.0 * (weights["norm_weight"] < 0).to(x.dtype)
        kernels = filters(weights["weight"] * sign, spec.setting("kernel"))
        maps = _convolve(spec, kernels, weights["bias"] * sign, x)
        pooled, chosen = private_torch.max_pool(maps, pool)
        mean, variance = private_torch.batch_statistics(maps, None, None, MOMENTUM)
        _remember(weights, mean * sign, variance, maps)
        inverse = torch.rsqrt(variance + EPSILON)
        normal = (positions(pooled) - mean).mul_(inverse)
        output = torch.addcmul(weights["norm_bias"], normal, weights["norm_weight"] * sign)
        seen = Statistics(sign, mean, inverse, normal)
        return output, NormalisedPass(spec, x, kernels, maps, chosen, seen)

    def backward(
        self,
        weights: Mapping[str, Tensor],
        saved: Any,
        gradient: Tensor,
        into: Mapping[str, Tensor] | None,
        to_input: bool,
    ) -> Tensor | None:
        if not private_torch.NORMALISED:
            return super().backward(weights, saved, gradient, into, to_input)
        if saved.seen is None:
            through = _unpool(saved, gradient)
        else:
            through = _unnormalise(weights, saved, gradient, into)
        padding = [saved.spec.setting("padding")] * 2
        wanted = [to_input, into is not None, False]
        below, kernels, _ = private_torch.conv_gradient(
            through, planes(saved.x), saved.filters, None,
            [1, 1], padding, [1, 1], False, [0, 0], 1, wanted,
        )  # fmt: skip
        if into is not None:
            matrix = kernels.permute(2, 3, 1, 0).reshape(into["weight"].shape)
            torch.mul(matrix, saved.seen.sign, out=into["weight"])
        return positions(below) if to_input else None


def _convolve(spec: ModuleSpec, kernels: Tensor, bias: Tensor, x: Tensor) -> Tensor:
    return functional.conv2d(planes(x), kernels, bias, padding=spec.setting("padding"))


def _fold(weights: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Return filters and a bias that include the normalisation by the running statistics."""
    scale = weights["norm_weight"] * torch.rsqrt(weights["running_var"] + EPSILON)
    bias = torch.addcmul(weights["norm_bias"], weights["bias"] - weights["running_mean"], scale)
    return weights["weight"] * scale, bias


def _folded(spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
    matrix, bias = _fold(weights)
    return _convolve(spec, filters(matrix, spec.setting("kernel")), bias, x)


def _remember(weights: Mapping[str, Tensor], mean: Tensor, variance: Tensor, maps: Tensor) -> None:
    """Move the running statistics towards those of a batch; the variance is a sample's."""
    count = maps.numel() // maps.shape[1]
    weights["running_mean"].lerp_(mean, MOMENTUM)
    weights["running_var"].lerp_(variance * (count / max(count - 1, 1)), MOMENTUM)


def _unpool(saved: NormalisedPass, gradient: Tensor) -> Tensor:
    """Return the gradient of the maps; each maximum's goes to where it was found."""
    pool = [saved.spec.setting("pool")] * 2
    found: Tensor = private_torch.max_pool_gradient(
        planes(gradient), saved.maps, pool, pool, [0, 0], [1, 1], False, saved.chosen
    )
    return found


def _unnormalise(
    weights: Mapping[str, Tensor],
    saved: NormalisedPass,
    gradient: Tensor,
    into: Mapping[str, Tensor] | None,
) -> Tensor:
    """Return the gradient of the maps through normalisation by a batch's own statistics.

    Only maxima have a gradient, so its sums run over the pooled maps. The bias below has none,
    since the mean cancels it.
    """
    assert saved.seen is not None
    sign, mean, inverse, normal = saved.seen
    to_bias = gradient.sum((0, 1, 2))
    to_scale = (gradient * normal).sum((0, 1, 2))
    scale = weights["norm_weight"] * sign * inverse
    count = math.prod(saved.maps.shape) // saved.maps.shape[1]
    slope = -scale * inverse * to_scale / count
    offset = -scale * to_bias / count - slope * mean
    through = _unpool(saved, gradient * scale)
    positions(through).addcmul_(positions(saved.maps), slope).add_(offset)
    if into is not None:
        into["norm_bias"].copy_(to_bias)
        torch.mul(to_scale, sign, out=into["norm_weight"])
        into["bias"].zero_()
    return through
