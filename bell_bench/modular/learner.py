"""The new modules of a path while they are trained: their weights, their loss, their optimiser."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from bell_bench.modular.architecture import Architecture
from bell_bench.modular.batches import Batch
from bell_bench.modular.blocks import Weights, block
from bell_bench.modular.network import IMAGES, ROWS, Modules, in_chunks, move, run
from bell_bench.modular.optimiser import Optimiser
from bell_bench.modular.prefix import Lookup
from bell_bench.modular.settings import TrainingSettings


def initial(architecture: Architecture, layer: int, init_seed: int, dtype: torch.dtype) -> Weights:
    """A new module's weights, which depend on nothing but its spec, the seed and the layer."""
    digest = hashlib.sha256(f"{init_seed} {layer}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "little"))
    spec = architecture[layer]
    return block(spec).init(spec, generator, dtype)


def loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy for a network with one output, else cross-entropy."""
    if logits.shape[1] == 1:
        return functional.binary_cross_entropy_with_logits(logits.squeeze(1), labels)
    return functional.cross_entropy(logits, labels)


class Learner:
    """A path's network from layer ``start`` on, its new modules being trained.

    ``start`` is the first new layer; the last one if there is none.
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
        made = {layer: initial(architecture, layer, init_seed, dtype) for layer in self.new}
        self.weights = move({**frozen, **made}, device, dtype)
        self.flat, self.parameters = self._flatten()
        self.optimiser = Optimiser(self.flat, settings)

    def _flatten(self) -> tuple[Tensor, list[Tensor]]:
        """Make all trained weights views of one tensor, which the optimiser updates at once."""
        trained = [
            (self.weights[layer], name)
            for layer in self.new
            for name in self.weights[layer]
            if name not in block(self.architecture[layer]).buffers
        ]
        sizes = [module[name].numel() for module, name in trained]
        flat = torch.zeros(sum(sizes), device=self.device, dtype=self.dtype)
        for (module, name), part in zip(trained, torch.split(flat, sizes), strict=True):
            part.copy_(module[name].flatten())
            module[name] = part.view_as(module[name]).requires_grad_()
        return flat, [module[name] for module, name in trained]

    def logits(self, x: Tensor, members: Tensor | None) -> Tensor:
        """The network's answers in training, from what layer ``start`` receives."""
        new = self.new
        x = run(self.architecture, self.weights, x, self.below, trained=new, logits=True)
        if members is not None:
            x = x.index_select(0, members.flatten())
            x = x.view(*members.shape, *x.shape[1:]) if self.above else x
        return run(self.architecture, self.weights, x, self.above, trained=new, logits=True)

    def targets(self, labels: NDArray[np.int64]) -> Tensor:
        """Labels as the loss takes them: numbers for a network with one output, else classes."""
        binary = math.prod(self.architecture.modules[-1].target.shape) == 1
        return torch.from_numpy(labels).to(self.device, self.dtype if binary else torch.int64)

    def update(self, x: Tensor, batch: Batch) -> Tensor:
        """One step of the optimiser; gives the loss before it."""
        value = loss(self.logits(x, batch.members), batch.labels)
        gradients = torch.autograd.grad(value, self.parameters)
        torch.cat([gradient.flatten() for gradient in gradients], out=self.optimiser.gradient)
        self.optimiser.step()
        return value.detach()

    @torch.no_grad()
    def predict(self, lookup: Lookup, images: int, index: Tensor) -> Tensor:
        """The logits of all inputs of a split, each image computed once."""
        architecture, weights = self.architecture, self.weights
        numbers = torch.arange(len(index), device=index.device)
        if not self.below:
            return in_chunks(
                lambda ids: run(architecture, weights, lookup(ids), self.above, logits=True),
                numbers,
                ROWS,
            )
        table = in_chunks(
            lambda ids: run(architecture, weights, lookup(ids), self.below, logits=True),
            torch.arange(images, device=index.device),
            IMAGES,
        )
        if not self.above:
            return table[index[:, 0]]
        return in_chunks(
            lambda part: run(architecture, weights, table[part], self.above, logits=True),
            index,
            ROWS,
        )

    def snapshot(self) -> dict[int, Weights]:
        """A copy of the new modules' weights, on the CPU."""
        return {
            layer: {name: tensor.detach().cpu().clone() for name, tensor in module.items()}
            for layer, module in self.weights.items()
            if layer in self.new
        }
