"""The cost of a path in floating-point operations: a nominal cost, the same for every job.

The charge depends on the problem's sizes, the path and the settings alone: a step has a full batch
of distinct images, and the frozen prefix is computed once, however much memory there is. With
augmentation it is computed at every step, since every step's images are new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from bell_bench.modular.architecture import Architecture
from bell_bench.modular.batches import Batch
from bell_bench.modular.flops import count
from bell_bench.modular.learner import Learner, initial
from bell_bench.modular.network import run_modules
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Inputs


@dataclass(frozen=True)
class Layers:
    """Operations of consecutive layers: per unique image below the join, per input above it."""

    image: float
    input: float

    def on(self, inputs: Inputs) -> float:
        """Return the operations of one pass over a split."""
        return self.of(len(inputs.images), len(inputs))

    def of(self, images: int, inputs: int) -> float:
        """Return the operations of one pass over so many images, and inputs made of them."""
        return self.image * images + self.input * inputs


@dataclass(frozen=True)
class PathFlops:
    """Operations of the parts of an evaluation, and how far their count can be trusted."""

    prefix: Layers
    """The frozen prefix."""
    rest: Layers
    """The rest of the network, from the first new layer on."""
    step: float
    """One update on a full batch. With augmentation, it includes the prefix of that batch."""
    coverage: float
    """The share of a step's operators that have a formula; of a pass's if nothing is trained."""
    uncounted: tuple[str, ...]


@lru_cache(maxsize=256)
def cost(
    architecture: Architecture,
    frozen: frozenset[int],
    settings: TrainingSettings,
    batch: int,
    device: torch.device,
) -> PathFlops:
    """Return a path's operations, counted on new modules to leave training undisturbed."""
    learner = _learner(architecture, frozen, settings, device)
    joint, start = architecture.joint, learner.start

    def forward(layers: range) -> Callable[[], object]:
        x = _received(architecture, layers.start, 1, device) if layers else torch.empty(0)
        return torch.no_grad()(lambda: run_modules(architecture, learner.weights, x, layers))

    parts = [range(min(start, joint)), range(joint, start), learner.below, learner.above]
    flops = [count(forward(layers)).flops for layers in parts]
    passes = [forward(layers) for layers in parts]
    step = count(lambda: _step(learner, batch, device) if learner.new else [f() for f in passes])
    prefix = batch * flops[0] if settings.augment else 0.0
    return PathFlops(
        prefix=Layers(*flops[:2]),
        rest=Layers(*flops[2:]),
        step=step.flops + prefix if learner.new else 0.0,
        coverage=step.coverage,
        uncounted=step.uncounted,
    )


def make_step(
    architecture: Architecture,
    frozen: frozenset[int],
    settings: TrainingSettings,
    batch: int,
    device: torch.device,
) -> Callable[[], object]:
    """Return a function that makes one update, as ``cost`` counts it; for timing."""
    learner = _learner(architecture, frozen, settings, device)
    return lambda: _step(learner, batch, device).item()


def weight_bytes(architecture: Architecture, layers: frozenset[int]) -> int:
    """Return how many bytes the weights of these layers take when stored."""
    weights = (initial(architecture, layer, 0, torch.float32) for layer in layers)
    return sum(tensor.nbytes for module in weights for tensor in module.values())


def _learner(
    architecture: Architecture,
    frozen: frozenset[int],
    settings: TrainingSettings,
    device: torch.device,
) -> Learner:
    modules = {layer: initial(architecture, layer, 0, torch.float32) for layer in frozen}
    return Learner(architecture, modules, settings, init_seed=0, device=device, dtype=torch.float32)


def _step(learner: Learner, batch: int, device: torch.device) -> Tensor:
    """Make one update on a full batch of distinct images."""
    architecture = learner.architecture
    items = torch.arange(batch * (architecture.arity if learner.below else 1), device=device)
    members = items.view(batch, -1) if learner.below else None
    x = _received(architecture, learner.start, len(items), device)
    labels = learner.targets(np.zeros(batch, dtype=np.int64))
    return learner.update(x, Batch(items, members, labels))


def _received(architecture: Architecture, layer: int, rows: int, device: torch.device) -> Tensor:
    """Return zeros of the shape that a layer receives."""
    spec = architecture[layer]
    joined = (spec.join,) if spec.join > 1 else ()
    return torch.zeros(rows, *joined, *spec.source.shape, device=device)
