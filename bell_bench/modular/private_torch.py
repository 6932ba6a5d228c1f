"""Private names of torch that we use, and what we use instead if one is missing.

They only save time: without one, a public name computes the same. Each is tried once, on a few
numbers, when this module is imported; tests/modular/test_private_torch.py fails if one of them
disappears or changes.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Trial = Callable[[Any], object]


def _adam(kernel: Any) -> object:
    weight, gradient, mean, square = torch.tensor([[1.0], [1.0], [0.0], [0.0]]).unbind()
    kernel(
        [weight], [gradient], [mean], [square], [], [torch.ones(())],
        lr=0.1, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False,
    )  # fmt: skip
    return weight < 1


def _relu(kernel: Any) -> object:
    gradient = torch.ones(2)
    kernel(gradient, torch.tensor([-1.0, 1.0]), 0, grad_input=gradient)
    return gradient.tolist() == [0, 1]


def _pool(kernel: Any) -> object:
    return kernel(torch.arange(4.0).view(1, 1, 2, 2), [2, 2])[1].item() == 3


def _unpool(kernel: Any) -> object:
    maps, chosen = torch.arange(4.0).view(1, 1, 2, 2), torch.full((1, 1, 1, 1), 3)
    found = kernel(torch.ones(1, 1, 1, 1), maps, [2, 2], [2, 2], [0, 0], [1, 1], False, chosen)
    return found.flatten().tolist() == [0, 0, 0, 1]


def _conv(kernel: Any) -> object:
    one = torch.ones(1, 1, 1, 1)
    wanted = [True, True, False]
    found = kernel(one, 2 * one, 3 * one, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, wanted)
    return (found[0].item(), found[1].item()) == (3, 2)


def _statistics(kernel: Any) -> object:
    mean, variance = kernel(torch.tensor([1.0, 3.0]).view(2, 1, 1, 1), None, None, 0.1)
    return (mean.item(), variance.item()) == (2, 1)


BORROWED: dict[str, Trial] = {
    "_fused_adam_": _adam,
    "_fused_adamw_": _adam,
    "ops.aten.threshold_backward.grad_input": _relu,
    "ops.aten.max_pool2d_with_indices": _pool,
    "ops.aten.max_pool2d_with_indices_backward": _unpool,
    "ops.aten.convolution_backward": _conv,
    "batch_norm_update_stats": _statistics,
}
"""Private names of torch, each with a trial that returns True if it does what we expect."""


def borrow(name: str) -> Any:
    """Return what torch has under a name, or None if it does not do what we expect."""
    try:
        found = functools.reduce(getattr, name.split("."), torch)
        return found if BORROWED[name](found) else None
    except Exception:  # a changed name may raise anything
        return None


def optim(name: str) -> Callable[..., None]:
    """Return torch.optim's public function of a name, with the arguments of its kernel."""

    def step(*tensors: list[Tensor], **settings: Any) -> None:
        for steps in tensors[-1]:
            steps -= 1  # the function adds one itself
        getattr(importlib.import_module(f"torch.optim.{name}"), name)(
            *tensors, fused=True, **settings
        )

    return step


FUSED = {name: borrow(f"_fused_{name}_") or optim(name) for name in ("adam", "adamw")}
"""torch.optim's kernels, without torch's compiler, whose import takes seconds per process."""
max_pool = borrow("ops.aten.max_pool2d_with_indices")
max_pool_gradient = borrow("ops.aten.max_pool2d_with_indices_backward")
conv_gradient = borrow("ops.aten.convolution_backward")
batch_statistics = borrow("batch_norm_update_stats")
NORMALISED = all((max_pool, max_pool_gradient, conv_gradient, batch_statistics))
"""Whether these can compute the gradients of CTrL's module; otherwise autograd does."""
_relu_backward = borrow("ops.aten.threshold_backward.grad_input")


def relu_gradient(gradient: Tensor, output: Tensor) -> Tensor:
    """Return the gradient of a ReLU's input; it overwrites the gradient of its output."""
    if _relu_backward is None:
        return gradient.masked_fill_(output <= 0, 0)
    found: Tensor = _relu_backward(gradient, output, 0, grad_input=gradient)
    return found
