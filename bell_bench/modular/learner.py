"""Train the new modules of a path: their weights, their loss, their optimiser."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from bell_bench.modular.architecture import Architecture, ModuleSpec
from bell_bench.modular.batches import Batch
from bell_bench.modular.blocks import ACTIVATIONS, DERIVATIVES, Block, Weights, block
from bell_bench.modular.network import (
    IMAGES,
    ROWS,
    Modules,
    in_chunks,
    move,
    new_weights,
    run_modules,
)
from bell_bench.modular.optimiser import Optimiser
from bell_bench.modular.prefix import Lookup
from bell_bench.modular.settings import TrainingSettings


def initial(architecture: Architecture, layer: int, init_seed: int, dtype: torch.dtype) -> Weights:
    """Return a new module's weights, which depend only on its spec, the seed and the layer."""
    digest = hashlib.sha256(f"{init_seed} {layer}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "little"))
    spec = architecture[layer]
    return new_weights(spec, generator, dtype)


def class_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of a network's logits: binary if the network has one output."""
    if logits.shape[1] == 1:
        answers = labels.to(logits.dtype)
        return functional.binary_cross_entropy_with_logits(logits.squeeze(1), answers)
    return functional.cross_entropy(logits, labels)


def loss_gradient(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the derivative of ``class_loss`` by the logits."""
    if logits.shape[1] == 1:
        return (torch.sigmoid(logits) - labels.unsqueeze(1)) / len(logits)
    expected = functional.one_hot(labels, logits.shape[1])
    return (torch.softmax(logits, dim=1) - expected) / len(logits)


class Step(NamedTuple):
    """A layer during training, forwards and backwards."""

    spec: ModuleSpec
    block: Block
    weights: Weights
    gradients: Weights | None
    """The tensors for its gradients; None for a frozen module."""
    passes_on: bool
    """Whether layers below need a gradient, too."""


class Tape:
    """One pass through consecutive layers, and their gradients in reverse order.

    Autograd does the same, but on modules as small as these it takes longer to build its graph.
    """

    def __init__(self, steps: Sequence[Step], layers: range) -> None:
        self.last = steps[-1]
        self.steps = steps[layers.start : layers.stop]
        self.record: list[tuple[Step, Any, Tensor]] = []

    def forward(self, x: Tensor) -> Tensor:
        """Return the layers' output; after the network's last layer, its logits."""
        for step in self.steps:
            training = step.gradients is not None
            x, saved = step.block.forward(step.spec, step.weights, x, training)
            if step is not self.last:
                x = ACTIVATIONS[step.spec.activation](x)
            self.record.append((step, saved, x))
        return x

    def backward(self, gradient: Tensor | None) -> Tensor | None:
        """Return the input's gradient if a layer below needs it; store those of the weights."""
        for step, saved, output in reversed(self.record):
            if gradient is None:
                break
            if step is not self.last:
                gradient = DERIVATIVES[step.spec.activation](gradient, output)
            gradient = step.block.backward(
                step.weights, saved, gradient, step.gradients, step.passes_on
            )
        return gradient


class Learner:
    """A path's network from layer ``start`` on, while its new modules are trained.

    ``start`` is the first new layer, or the last layer if none is new.
    """

    def __init__(
        self,
        architecture: Architecture,
        frozen: Modules,
        settings: TrainingSettings,
        *,
        init_seed: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        length, joint = len(architecture), architecture.joint
        self.architecture, self.device, self.dtype = architecture, device, dtype
        self.new = tuple(layer for layer in range(length) if layer not in frozen)
        self.start = min((*self.new, length - 1))
        self.below, self.above = range(self.start, joint), range(max(self.start, joint), length)
        self.whole_batch = any(block(architecture[layer]).whole_batch for layer in self.new)
        """Whether a batch keeps repeated images: some new module learns from all at once."""
        made = {layer: initial(architecture, layer, init_seed, dtype) for layer in self.new}
        self.weights = move({**frozen, **made}, device, dtype)
        self.optimiser, gradients = self._flatten(settings)
        self.steps = [
            Step(spec, block(spec), self.weights[layer], gradients.get(layer), layer > self.start)
            for layer, spec in enumerate(architecture.modules)
        ]

    def _flatten(self, settings: TrainingSettings) -> tuple[Optimiser, dict[int, Weights]]:
        """Make all trained weights views of one tensor, which the optimiser updates at once.

        Return the optimiser, and each weight's view of its gradient.
        """
        gradients: dict[int, Weights] = {layer: {} for layer in self.new}
        trained = [
            (layer, name)
            for layer in self.new
            for name in self.weights[layer]
            if name not in block(self.architecture[layer]).buffers
        ]
        sizes = [self.weights[layer][name].numel() for layer, name in trained]
        flat = torch.zeros(sum(sizes), device=self.device, dtype=self.dtype)
        optimiser = Optimiser(flat, settings)
        parts = zip(torch.split(flat, sizes), torch.split(optimiser.gradient, sizes), strict=True)
        for (layer, name), (part, gradient) in zip(trained, parts, strict=True):
            value = self.weights[layer][name]
            self.weights[layer][name] = part.view_as(value).copy_(value)
            gradients[layer][name] = gradient.view_as(value)
        return optimiser, gradients

    def targets(self, labels: NDArray[np.int64]) -> Tensor:
        """Return labels as the loss takes them: floats for one output, else class numbers."""
        binary = math.prod(self.architecture.modules[-1].target.shape) == 1
        return torch.from_numpy(labels).to(self.device, self.dtype if binary else torch.int64)

    @torch.no_grad()
    def update(self, x: Tensor, batch: Batch) -> Tensor:
        """Make one step of the optimiser; return the loss before it."""
        below, above = Tape(self.steps, self.below), Tape(self.steps, self.above)
        answers = images = below.forward(x)
        if batch.members is not None:
            members = batch.members.flatten()
            answers = images.index_select(0, members)
            if self.above:
                answers = answers.view(*batch.members.shape, *images.shape[1:])
        logits = above.forward(answers)
        gradient = above.backward(loss_gradient(logits, batch.labels))
        if batch.members is not None and gradient is not None:
            parts = gradient.view(len(members), *images.shape[1:])
            below.backward(torch.zeros_like(images).index_add_(0, members, parts))
        self.optimiser.step()
        return class_loss(logits, batch.labels)

    @torch.no_grad()
    def predict(self, lookup: Lookup, images: int, index: Tensor) -> Tensor:
        """Return the logits of all inputs of a split; each image is computed once."""
        architecture, weights = self.architecture, self.weights
        numbers = torch.arange(len(index), device=index.device)
        if not self.below:
            return in_chunks(
                lambda ids: run_modules(
                    architecture, weights, lookup(ids), self.above, logits=True
                ),
                numbers,
                ROWS,
            )
        table = in_chunks(
            lambda ids: run_modules(architecture, weights, lookup(ids), self.below, logits=True),
            torch.arange(images, device=index.device),
            IMAGES,
        )
        if not self.above:
            return table[index[:, 0]]
        return in_chunks(
            lambda part: run_modules(architecture, weights, table[part], self.above, logits=True),
            index,
            ROWS,
        )

    def snapshot(self) -> dict[int, Weights]:
        """Return a copy of the new modules' weights, on the CPU."""
        return {
            layer: {name: tensor.detach().cpu().clone() for name, tensor in module.items()}
            for layer, module in self.weights.items()
            if layer in self.new
        }
