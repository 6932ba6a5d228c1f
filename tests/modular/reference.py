"""Training as the paper describes it, in plain PyTorch: what the fast path must equal.

Pairs of images are gathered per batch, all modules are in the graph, frozen ones are merely left
out of the optimiser (and kept in evaluation mode), and validation runs on pairs. Maps are channels
first, as torch's layers have them by default. Also the yardstick of benchmarks/.
"""

from __future__ import annotations

import math
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


class ConvNormPool(nn.Sequential):
    """CTrL's module as anyone would write it."""

    def __init__(self, spec: ModuleSpec) -> None:
        super().__init__(
            nn.Conv2d(
                spec.source.shape[2],
                spec.target.shape[2],
                spec.setting("kernel"),
                padding=spec.setting("padding"),
            ),
            nn.BatchNorm2d(spec.target.shape[2], momentum=0.1),
            nn.ReLU(),
            nn.MaxPool2d(spec.setting("pool")),
        )

    def places(self) -> dict[str, Tensor]:
        return {"weight": self[0].weight, "bias": self[0].bias, **norm_places(self[1])}


class ConvNorm(nn.Sequential):
    """A convolution without bias and its batch normalisation."""

    def __init__(self, source: int, target: int, kernel: int, stride: int = 1) -> None:
        padding = kernel // 2
        super().__init__(
            nn.Conv2d(source, target, kernel, stride, padding, bias=False), nn.BatchNorm2d(target)
        )

    def places(self, name: str = "") -> dict[str, Tensor]:
        found = {"weight": self[0].weight, **norm_places(self[1])}
        return {f"{name}{key}": tensor for key, tensor in found.items()}


class BasicBlock(nn.Module):
    """ResNet's, after He et al. (2016)."""

    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = ConvNorm(width, width, 3, stride)
        self.conv2 = ConvNorm(width, width, 3)
        self.beside = ConvNorm(width, width, 1, stride) if stride > 1 else None

    def forward(self, x: Tensor) -> Tensor:
        inner = self.conv2(torch.relu(self.conv1(x)))
        return torch.relu(inner + (self.beside(x) if self.beside else x))

    def places(self, name: str) -> dict[str, Tensor]:
        found = {**self.conv1.places(f"{name}conv1_"), **self.conv2.places(f"{name}conv2_")}
        return {**found, **(self.beside.places(f"{name}beside_") if self.beside else {})}


class Stage(nn.Sequential):
    """Two basic blocks."""

    def __init__(self, spec: ModuleSpec) -> None:
        width = spec.target.shape[2]
        super().__init__(BasicBlock(width, spec.setting("stride")), BasicBlock(width, 1))

    def places(self) -> dict[str, Tensor]:
        return {**self[0].places("block1_"), **self[1].places("block2_")}


def norm_places(norm: nn.BatchNorm2d) -> dict[str, Tensor]:
    return {
        "norm_weight": norm.weight,
        "norm_bias": norm.bias,
        "running_mean": norm.running_mean,
        "running_var": norm.running_var,
    }


COLOUR = {
    "conv-norm-pool": ConvNormPool,
    "conv-norm": lambda spec: ConvNorm(spec.source.shape[2], spec.target.shape[2], 3),
    "residual": Stage,
}


def as_filters(matrix: Tensor, channels: int) -> Tensor:
    """(patch, outputs) to torch's (outputs, channels, rows, columns)."""
    kernel = math.isqrt(len(matrix) // channels)
    return matrix.view(kernel, kernel, channels, -1).permute(3, 2, 0, 1)


def as_matrix(filters: Tensor) -> Tensor:
    return filters.permute(2, 3, 1, 0).reshape(-1, len(filters))


ACTIVATE = {"relu": torch.relu, "softmax": lambda x: torch.softmax(x, 1), "sigmoid": torch.sigmoid}

ACTIVATED = {"conv-norm-pool", "residual"}
"""The kinds whose modules here end in their ReLU."""


def to_torch(spec: ModuleSpec, weights: Weights, dtype: torch.dtype) -> nn.Module:
    """A module of torch.nn, channels first, with the same weights."""
    if spec.kind in COLOUR:
        module = COLOUR[spec.kind](spec).to(dtype)
        with torch.no_grad():
            for name, place in module.places().items():
                value = weights[name]
                place.copy_(as_filters(value, place.shape[1]) if place.dim() == 4 else value)
        return module
    weight = weights["weight"]
    shape = spec.source.shape
    if spec.kind == "conv":
        kernel = spec.setting("kernel")
        channels = shape[2] if len(shape) == 3 else 1
        module = nn.Conv2d(channels, weight.shape[1], kernel, spec.setting("stride"), dtype=dtype)
        matrix = weight.view(kernel, kernel, channels, -1).permute(3, 2, 0, 1)
    else:
        module = nn.Linear(*weight.shape, dtype=dtype)
        if len(shape) == 3 and spec.kind != "mean-head":
            weight = weight.view(*shape, -1).permute(2, 0, 1, 3).reshape(weight.shape)
        matrix = weight.t()
    with torch.no_grad():
        module.weight.copy_(matrix)
        module.bias.copy_(weights["bias"])
    return module


def from_torch(spec: ModuleSpec, module: nn.Module) -> Weights:
    """The weights of a module of torch.nn in the layout of bell_bench.modular.blocks."""
    if spec.kind in COLOUR:
        found = {name: place.detach() for name, place in module.places().items()}
        return {name: as_matrix(t) if t.dim() == 4 else t.clone() for name, t in found.items()}
    weight, shape = module.weight.detach(), spec.source.shape
    if spec.kind == "conv":
        matrix = as_matrix(weight)
    else:
        matrix = weight.t()
        if len(shape) == 3 and spec.kind != "mean-head":
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
            elif spec.kind == "mean-head":
                x = x.mean((2, 3))
            elif spec.kind not in COLOUR:
                x = x.reshape(inputs if spec.join > 1 else len(x), -1)
            x = module(x)
            if module is not self.layers[-1] and spec.kind not in ACTIVATED:
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
        if images.dim() == 4:
            images = images.permute(0, 3, 1, 2).contiguous()
        return images, torch.from_numpy(split.index).long(), torch.from_numpy(split.labels)

    def _batches(self, seed: int) -> Iterator[Tensor]:
        random, self.crops = np.random.RandomState(seed), np.random.RandomState([seed, 1])
        while True:
            order = torch.from_numpy(random.permutation(len(self.problem.train)))
            yield from order.split(self.settings.batch)

    def _augment(self, images: Tensor) -> Tensor:
        """Each image (n, 1, channels, rows, columns) padded by 4, cropped, perhaps mirrored."""
        corners = self.crops.randint(0, 9, (len(images), 2))
        mirrored = self.crops.randint(0, 2, len(images))
        result = torch.empty_like(images)
        side = images.shape[-1]
        for i, (top, left) in enumerate(corners):
            padded = functional.pad(images[i], (4, 4, 4, 4))
            crop = padded[..., top : top + side, left : left + side]
            result[i] = crop.flip(-1) if mirrored[i] else crop
        return result

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        if logits.shape[1] == 1:
            return functional.binary_cross_entropy_with_logits(logits[:, 0], labels.to(self.dtype))
        return functional.cross_entropy(logits, labels)

    def update(self) -> float:
        images, index, labels = self.train
        rows = next(self.batches)
        x = images[index[rows]]
        if self.settings.augment:
            x = self._augment(x)
        for layer, module in enumerate(self.network.layers):
            module.train(layer in self.new)
        value = self.loss(self.network(x), labels[rows])
        self.network.zero_grad()
        value.backward()
        self.optimiser.step()
        return value.item()

    @torch.no_grad()
    def validate(self) -> tuple[float, float]:
        """Loss and accuracy."""
        images, index, labels = self.validation
        self.network.eval()
        logits = torch.cat([self.network(images[part]) for part in index.split(128)])
        answers = logits[:, 0] > 0 if logits.shape[1] == 1 else logits.argmax(1)
        return self.loss(logits, labels).item(), (answers == labels).double().mean().item()

    def weights(self) -> dict[int, Weights]:
        """The new modules' weights, in the layout of bell_bench.modular.blocks."""
        modules, layers = self.problem.architecture.modules, self.network.layers
        return {layer: from_torch(modules[layer], layers[layer]) for layer in self.new}
