"""Training as the paper describes it, in plain PyTorch: what the fast path must equal.

Pairs of images are gathered per batch, all modules are in the graph, frozen ones are merely left
out of the optimiser, and validation runs on pairs. Also the yardstick of benchmarks/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bell_bench.modular.architecture import Architecture, ModuleSpec
from bell_bench.modular.blocks import Weights
from bell_bench.modular.learner import initial
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem, Split

ACTIVATE = {"relu": torch.relu, "softmax": lambda x: torch.softmax(x, 1), "sigmoid": torch.sigmoid}


def to_torch(spec: ModuleSpec, weights: Weights, dtype: torch.dtype) -> nn.Module:
    """A module of torch.nn, channels first, with the same weights."""
    weight = weights["weight"]
    shape = spec.source.shape
    if spec.kind == "conv":
        kernel = spec.setting("kernel")
        channels = shape[2] if len(shape) == 3 else 1
        module = nn.Conv2d(channels, weight.shape[1], kernel, spec.setting("stride"), dtype=dtype)
        matrix = weight.view(kernel, kernel, channels, -1).permute(3, 2, 0, 1)
    else:
        module = nn.Linear(*weight.shape, dtype=dtype)
        if len(shape) == 3:
            weight = weight.view(*shape, -1).permute(2, 0, 1, 3).reshape(weight.shape)
        matrix = weight.t()
    with torch.no_grad():
        module.weight.copy_(matrix)
        module.bias.copy_(weights["bias"])
    return module


def from_torch(spec: ModuleSpec, module: nn.Module) -> Weights:
    """The weights of a module of torch.nn in the layout of bell_bench.modular.blocks."""
    weight, shape = module.weight.detach(), spec.source.shape
    if spec.kind == "conv":
        matrix = weight.permute(2, 3, 1, 0).reshape(-1, weight.shape[0])
    else:
        matrix = weight.t()
        if len(shape) == 3:
            first = (shape[2], shape[0], shape[1])
            matrix = matrix.reshape(*first, -1).permute(1, 2, 0, 3).reshape(matrix.shape)
    return {"weight": matrix.contiguous(), "bias": module.bias.detach()}


class PlainNetwork(nn.Module):
    """The whole network on inputs (n, arity, ...); gives logits."""

    def __init__(
        self, architecture: Architecture, weights: Mapping[int, Weights], dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.layers = nn.ModuleList(
            to_torch(spec, weights[i], dtype) for i, spec in enumerate(architecture.modules)
        )

    def forward(self, x: Tensor) -> Tensor:
        inputs = len(x)
        x = x.flatten(0, 1)
        for spec, module in zip(self.architecture.modules, self.layers, strict=True):
            if spec.kind == "conv":
                x = x if x.dim() == 4 else x.unsqueeze(1)
            else:
                x = x.reshape(inputs if spec.join > 1 else len(x), -1)
            x = module(x)
            if module is not self.layers[-1]:
                x = ACTIVATE[spec.activation](x)
        return x


class PlainTraining:
    """A training in progress: ``update`` after ``update``, ``validate`` at any time."""

    def __init__(
        self,
        problem: Problem,
        frozen: Mapping[int, Weights],
        settings: TrainingSettings,
        *,
        seed: int,
        init_seed: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.problem, self.settings, self.dtype = problem, settings, dtype
        architecture = problem.architecture
        self.new = [layer for layer in range(len(architecture)) if layer not in frozen]
        weights = {layer: initial(architecture, layer, init_seed, dtype) for layer in self.new}
        self.network = PlainNetwork(architecture, {**frozen, **weights}, dtype)
        trained = [p for layer in self.new for p in self.network.layers[layer].parameters()]
        kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[settings.optimiser]
        self.optimiser = kind(
            trained or [torch.zeros(1)],
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
        )
        self.train = self._tensors(problem.train)
        self.validation = self._tensors(problem.validation)
        self.batches = self._batches(seed)

    def _tensors(self, split: Split) -> tuple[Tensor, Tensor, Tensor]:
        images = torch.from_numpy(split.pixels()).to(self.dtype)
        return images, torch.from_numpy(split.index).long(), torch.from_numpy(split.labels)

    def _batches(self, seed: int) -> Iterator[Tensor]:
        random = np.random.RandomState(seed)
        while True:
            order = torch.from_numpy(random.permutation(len(self.problem.train)))
            yield from order.split(self.settings.batch)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        if logits.shape[1] == 1:
            return functional.binary_cross_entropy_with_logits(logits[:, 0], labels.to(self.dtype))
        return functional.cross_entropy(logits, labels)

    def update(self) -> float:
        images, index, labels = self.train
        rows = next(self.batches)
        value = self.loss(self.network(images[index[rows]]), labels[rows])
        self.network.zero_grad()
        value.backward()
        self.optimiser.step()
        return value.item()

    @torch.no_grad()
    def validate(self) -> tuple[float, float]:
        """Loss and accuracy."""
        images, index, labels = self.validation
        logits = torch.cat([self.network(images[part]) for part in index.split(128)])
        answers = logits[:, 0] > 0 if logits.shape[1] == 1 else logits.argmax(1)
        return self.loss(logits, labels).item(), (answers == labels).double().mean().item()

    def weights(self) -> dict[int, Weights]:
        """The new modules' weights, in the layout of bell_bench.modular.blocks."""
        modules, layers = self.problem.architecture.modules, self.network.layers
        return {layer: from_torch(modules[layer], layers[layer]) for layer in self.new}
