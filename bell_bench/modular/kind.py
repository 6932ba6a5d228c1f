"""A kind of module: which weights it has, what it computes, and how it is trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from bell_bench.modular.architecture import ModuleSpec

Weights = dict[str, Tensor]
"""A module's tensors by name: its parameters, and its buffers if its kind has any."""


class Block:
    """A kind of module. ``buffers`` names the weights that are not trained by gradients.

    A kind needs ``init`` and ``apply``. Training uses ``forward`` and ``backward``, which a kind
    may override if autograd is slower than the computation.
    """

    buffers: tuple[str, ...] = ()
    """Names of weights that passes in training mode change in place; saved with the parameters."""
    whole_batch: bool = False
    """Whether, in training mode, an image's output depends on the other images of its batch."""

    def init(
        self, spec: ModuleSpec, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Weights:
        """Return new weights, drawn on the CPU from ``generator`` alone."""
        raise NotImplementedError

    def apply(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool = False
    ) -> Tensor:
        """Return the output before the activation, which the caller may overwrite.

        Autograd can differentiate it, in either mode.
        """
        raise NotImplementedError

    def forward(
        self, spec: ModuleSpec, weights: Mapping[str, Tensor], x: Tensor, training: bool
    ) -> tuple[Tensor, Any]:
        """Return the output, as ``apply`` does, and whatever ``backward`` needs."""
        with torch.enable_grad():
            source = x.detach().requires_grad_()
            leaves = {
                name: tensor if name in self.buffers else tensor.detach().requires_grad_()
                for name, tensor in weights.items()
            }
            output = self.apply(spec, leaves, source, training)
        return output.detach().clone(), (source, leaves, output)

    def backward(
        self,
        weights: Mapping[str, Tensor],
        saved: Any,
        gradient: Tensor,
        into: Mapping[str, Tensor] | None,
        to_input: bool,
    ) -> Tensor | None:
        """Write parameters' gradients ``into`` tensors, if any; return the input's if asked."""
        source, leaves, output = saved
        wanted = [leaves[name] for name in into or ()] + [source] * to_input
        found = torch.autograd.grad(output, wanted, gradient)
        for target, value in zip((into or {}).values(), found, strict=False):
            target.copy_(value)
        return found[-1] if to_input else None
