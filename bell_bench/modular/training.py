"""TrainAndEvaluate: train the new modules of a path on a problem; the same bits every time."""

from __future__ import annotations

import contextlib
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from bell_bench.errors import unknown
from bell_bench.modular.batches import batches
from bell_bench.modular.blocks import Weights
from bell_bench.modular.cost import cost
from bell_bench.modular.learner import Learner, loss
from bell_bench.modular.network import Modules, rows
from bell_bench.modular.prefix import Budget, Lookup, features_below
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem, Split

SELECTIONS = ("accuracy", "loss")


class DivergenceWarning(UserWarning):
    """A training whose loss is no longer a finite number."""


@dataclass(frozen=True)
class Trained:
    """A path after training: the selected weights of its new modules, their figures, the cost."""

    weights: dict[int, Weights]
    accuracy: float
    """On the validation set, from 0 to 1; 0 if the training diverged."""
    loss: float
    """On the validation set; infinite if the training diverged."""
    updates: int
    epochs: int
    """Epochs begun."""
    diverged: bool
    train_flops: float
    inference_flops: float
    flop_coverage: float
    uncounted: tuple[str, ...]
    seconds: float
    cpu_seconds: float
    history: list[tuple[int, float, float]]
    """Every validation: updates before it, loss, accuracy."""


def train(
    problem: Problem,
    frozen: Modules,
    settings: TrainingSettings,
    *,
    seed: int,
    init_seed: int,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
    feature_budget: int | None = None,
) -> Trained:
    """Train all layers of a problem's network but the ``frozen`` ones, and validate.

    ``seed`` determines the batches, ``init_seed`` and the layer the initial weights. What the
    frozen layers below the first new one give is kept within ``feature_budget`` bytes (by default
    a quarter of free memory, at most 2 GB), else computed again; the result is the same.
    """
    if settings.select not in SELECTIONS:
        raise unknown("way to select weights", settings.select, SELECTIONS)
    batch = min(settings.batch, len(problem.train))
    epoch = math.ceil(len(problem.train) / batch)
    with deterministic(device):
        price = cost(problem.architecture, frozenset(frozen), settings, batch, device)
        wall, cpu = time.perf_counter(), time.process_time()
        learner = Learner(
            problem.architecture, frozen, settings, init_seed=init_seed, device=device, dtype=dtype
        )
        budget = Budget(feature_budget)
        patience = max(settings.patience, settings.patience_epochs * epoch)
        measure = _validation(learner, problem.validation, budget)
        progress = _Progress(learner, measure, settings, patience)
        if progress.validate() and learner.new:
            stream = updates(learner, problem.train, batch, seed=seed, budget=budget)
            _fit(stream, epoch, settings, progress)
        seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    if progress.diverged:
        message = f"training on «{problem.name}» diverged after {progress.updates} updates"
        warnings.warn(f"{message}; the path scores 0", DivergenceWarning, stacklevel=2)
    prefix = price.prefix.on(problem.train) if learner.new else 0.0
    above = progress.validations * price.rest.on(problem.validation)
    return Trained(
        weights=progress.weights,
        accuracy=0.0 if progress.diverged else progress.accuracy,
        loss=math.inf if progress.diverged else progress.loss,
        updates=progress.updates,
        epochs=math.ceil(progress.updates / epoch),
        diverged=progress.diverged,
        train_flops=progress.updates * price.step + prefix,
        inference_flops=price.prefix.on(problem.validation) + above,
        flop_coverage=price.coverage,
        uncounted=price.uncounted,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        history=progress.history,
    )


@dataclass
class _Progress:
    """A training as its validations show it: the weights to return, and whether to go on."""

    learner: Learner
    measure: Callable[[], tuple[float, float]]
    """The validation loss and accuracy of the learner's weights."""
    settings: TrainingSettings
    patience: int
    """How many updates without a lower loss are borne."""
    updates: int = 0
    validations: int = 0
    diverged: bool = False
    weights: dict[int, Weights] = field(default_factory=dict)
    loss: float = math.inf
    accuracy: float = 0.0
    lowest: tuple[float, int] = (math.inf, 0)
    """The lowest loss and after how many updates it was first reached."""
    history: list[tuple[int, float, float]] = field(default_factory=list)

    def validate(self, training_loss: float = 0.0) -> bool:
        """Measure the weights and keep them if they are the best; gives whether to go on."""
        loss, accuracy = self.measure()
        self.validations += 1
        self.diverged = not math.isfinite(loss + training_loss)
        if self.diverged:
            self.weights = self.weights or self.learner.snapshot()
            return False
        if not self.history or self._better(loss, accuracy):
            self.weights, self.loss, self.accuracy = self.learner.snapshot(), loss, accuracy
        self.history.append((self.updates, loss, accuracy))
        self.lowest = min(self.lowest, (loss, self.updates))
        return self.updates - self.lowest[1] < self.patience

    def _better(self, loss: float, accuracy: float) -> bool:
        return loss < self.loss if self.settings.select == "loss" else accuracy > self.accuracy


def updates(
    learner: Learner, split: Split, batch: int, *, seed: int, budget: Budget
) -> Iterator[Tensor]:
    """Update after update without end; gives the training loss before each."""
    features = _features(learner, split, budget)
    labels = learner.targets(split.labels)
    for part in batches(split, labels, batch, seed=seed, by_image=bool(learner.below)):
        yield learner.update(features(part.items), part)


def _fit(
    stream: Iterator[Tensor], epoch: int, settings: TrainingSettings, progress: _Progress
) -> None:
    """Update until patience or the settings' limits end it, which is always with a validation."""
    every = settings.validate_every or epoch
    limit = settings.max_epochs * epoch
    if settings.max_updates is not None:
        limit = min(limit, settings.max_updates)
    for value in islice(stream, limit):
        progress.updates += 1
        due = progress.updates % every == 0 or progress.updates == limit
        if due and not progress.validate(float(value)):
            return


def _features(learner: Learner, split: Split, budget: Budget) -> Lookup:
    return features_below(
        learner.architecture,
        learner.weights,
        split,
        learner.start,
        budget=budget,
        device=learner.device,
        dtype=learner.dtype,
    )


def _validation(
    learner: Learner, split: Split, budget: Budget
) -> Callable[[], tuple[float, float]]:
    """A function that measures loss and accuracy on ``split``."""
    features = _features(learner, split, budget)
    index = rows(split, learner.device)
    labels = learner.targets(split.labels)

    def measure() -> tuple[float, float]:
        logits = learner.predict(features, len(split.images), index)
        answers = logits.squeeze(1) > 0 if labels.is_floating_point() else logits.argmax(1)
        return float(loss(logits, labels)), int((answers == labels).sum()) / len(split)

    return measure


@contextlib.contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """Deterministic algorithms, without the filling of new memory that nothing here reads.

    Not by torch.use_deterministic_algorithms, which imports torch's compiler: seconds per process.
    """
    memory: Any = torch.utils.deterministic
    before = torch.get_deterministic_debug_mode(), memory.fill_uninitialized_memory
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    try:
        torch.set_deterministic_debug_mode("error")
        memory.fill_uninitialized_memory = False
        yield
    finally:
        torch.set_deterministic_debug_mode(before[0])
        memory.fill_uninitialized_memory = before[1]
