"""Typed architectures as torch modules, for algorithms that train by autograd.

Problems share a module wherever its spec, types included, is the same, in whatever layer. A
problem's last module is its head, which is never shared.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from bell_bench.errors import unknown
from bell_bench.modular.architecture import Architecture, ModuleSpec
from bell_bench.modular.blocks import ACTIVATIONS, Weights, block
from bell_bench.modular.learner import initial
from bell_bench.modular.settings import TrainingSettings

OPTIMISERS: dict[str, Any] = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}


class TypedModule(nn.Module):
    """One module of an architecture; it holds the block's weights as parameters and buffers."""

    def __init__(self, spec: ModuleSpec, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.spec = spec
        self.names = tuple(weights)
        for name, tensor in weights.items():
            if name in block(spec).buffers:
                self.register_buffer(name, tensor)
            else:
                self.register_parameter(name, nn.Parameter(tensor))

    @property
    def weights(self) -> Weights:
        """All tensors by name, as blocks take them."""
        return {name: getattr(self, name) for name in self.names}

    def logits(self, x: Tensor) -> Tensor:
        """Return the output before the activation."""
        return block(self.spec).apply(self.spec, self.weights, x, training=self.training)

    def forward(self, x: Tensor) -> Tensor:
        return ACTIVATIONS[self.spec.activation](self.logits(x))


class SharedNetwork(nn.Module):
    """The networks of all problems so far, with shared modules and a head for each problem."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = nn.ModuleDict()
        self.heads = nn.ModuleDict()
        self.architectures: dict[int, Architecture] = {}

    def add(self, index: int, architecture: Architecture, init_seed: int) -> None:
        """Add the modules that problem ``index`` lacks; ``init_seed`` sets their weights."""
        self.architectures[index] = architecture
        last = len(architecture) - 1
        for layer, (spec, name) in enumerate(
            zip(architecture.modules, _names(architecture), strict=True)
        ):
            modules = self.heads if layer == last else self.shared
            key = str(index) if layer == last else name
            if key not in modules:
                weights = initial(architecture, layer, init_seed, torch.float32)
                modules[key] = TypedModule(spec, weights).train(self.training)

    def body(self, index: int) -> tuple[str, ...]:
        """Return the names of the shared modules below the head; they determine the features."""
        return _names(self.architectures[index])[:-1]

    def features(self, index: int, x: Tensor) -> Tensor:
        """Return what the problem's head receives, for inputs (n, arity, …)."""
        architecture = self.architectures[index]
        values = x.flatten(0, 1)
        for layer, key in enumerate(self.body(index)):
            if layer == architecture.joint:
                values = values.view(*x.shape[:2], *values.shape[1:])
            values = self.shared[key](values)
        if architecture.joint == len(architecture) - 1:
            values = values.view(*x.shape[:2], *values.shape[1:])
        return values

    def head(self, index: int) -> TypedModule:
        module = self.heads[str(index)]
        assert isinstance(module, TypedModule)
        return module

    def forward(self, x: Tensor, index: int) -> Tensor:
        """Return the problem's logits for inputs (n, arity, …)."""
        return self.head(index).logits(self.features(index, x))

    def others(self, index: int) -> Iterator[nn.Parameter]:
        """Yield the weights that the problem's network does not have."""
        own = {str(index), *self.body(index)}
        for modules in (self.shared, self.heads):
            for key, module in modules.items():
                if key not in own:
                    yield from module.parameters()

    def weights(self, index: int) -> dict[int, Weights]:
        """Return the problem's weights by layer, as ``bell_bench.modular.network`` takes them."""
        chain = [*(self.shared[key] for key in self.body(index)), self.head(index)]
        return {layer: module.weights for layer, module in enumerate(_typed(chain))}


def _typed(modules: Iterable[nn.Module]) -> Iterable[TypedModule]:
    for module in modules:
        assert isinstance(module, TypedModule)
        yield module


def _names(architecture: Architecture) -> tuple[str, ...]:
    """Return a name for each module: its spec, and how many equal specs come before it."""
    found: Counter[str] = Counter()
    names = []
    for spec in architecture.modules:
        text = json.dumps(spec.to_json(), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        names.append(f"{digest}_{found[digest]}")
        found[digest] += 1
    return tuple(names)


def optimiser(
    parameters: Iterable[nn.Parameter], settings: TrainingSettings
) -> torch.optim.Optimizer:
    """Return the suite's optimiser for parameters that autograd trains."""
    if settings.optimiser not in OPTIMISERS:
        raise unknown("optimiser", settings.optimiser, OPTIMISERS)
    kind = OPTIMISERS[settings.optimiser]
    made: torch.optim.Optimizer = kind(
        parameters,
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )
    return made
