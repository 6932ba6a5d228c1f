"""TrainAndEvaluate: train the new modules of a path on a problem, with the same bits every time."""

from __future__ import annotations

import contextlib
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from bell_bench.errors import BellBenchError, unknown
from bell_bench.modular.batches import batches
from bell_bench.modular.blocks import Weights
from bell_bench.modular.cost import cost
from bell_bench.modular.learner import Learner, class_loss
from bell_bench.modular.network import Modules, rows
from bell_bench.modular.prefix import Budget, Lookup, augmented_below, features_below
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem, Split

SELECTIONS = ("accuracy", "loss")


class DivergenceWarning(UserWarning):
    """Warns that a training's loss is not a finite number any more."""


@dataclass(frozen=True)
class Trained:
    """A path after training: the selected weights of its new modules, their figures, the cost.

    If the settings have a grid, the figures are those of its best training; updates and costs are
    those of all.
    """

    weights: dict[int, Weights]
    accuracy: float
    """Accuracy on the validation set, from 0 to 1; 0 if the training diverged."""
    loss: float
    """Loss on the validation set; infinite if the training diverged."""
    updates: int
    epochs: int
    """How many epochs were begun."""
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
    """Train all layers of a problem's network except the ``frozen`` ones, and validate.

    ``seed`` determines the batches; ``init_seed`` and the layer determine the initial weights. The
    output of the frozen layers below the first new one is kept within ``feature_budget`` bytes (by
    default a quarter of free memory, at most 2 GB), or else computed again; the result is the same.
    """
    if settings.select not in SELECTIONS:
        raise unknown("way to select weights", settings.select, SELECTIONS)
    if settings.augment and problem.architecture.arity > 1:
        raise BellBenchError(
            f"augmentation is for single images, but an input of «{problem.name}» has "
            f"{problem.architecture.arity}: set augment to False"
        )
    grid = settings.grid or ((settings.learning_rate, settings.weight_decay),)
    if len(frozen) == len(problem.architecture):
        grid = grid[:1]  # nothing is trained
    tried = [
        _train(
            problem,
            frozen,
            replace(settings, learning_rate=rate, weight_decay=decay, grid=()),
            seed=seed,
            init_seed=init_seed,
            device=device,
            dtype=dtype,
            feature_budget=feature_budget,
        )
        for rate, decay in grid
    ]
    trained = _best(tried, settings.select)
    if trained.diverged:
        message = f"training on «{problem.name}» diverged after {trained.updates} updates"
        warnings.warn(f"{message}; the path scores 0", DivergenceWarning, stacklevel=2)
    return trained


def _best(tried: list[Trained], select: str) -> Trained:
    """Return the best of a grid's trainings, of equal ones the first, with the cost of all."""
    best = min(tried, key=lambda trained: best_first(trained, select))
    return replace(
        best,
        updates=sum(trained.updates for trained in tried),
        epochs=sum(trained.epochs for trained in tried),
        train_flops=sum(trained.train_flops for trained in tried),
        inference_flops=sum(trained.inference_flops for trained in tried),
        seconds=sum(trained.seconds for trained in tried),
        cpu_seconds=sum(trained.cpu_seconds for trained in tried),
    )


def best_first(tried: Trained | TrainingProgress, select: str) -> tuple[bool, float]:
    """Return the key that sorts the trainings of a grid, best first."""
    return tried.diverged, tried.loss if select == "loss" else -tried.accuracy


def _train(
    problem: Problem,
    frozen: Modules,
    settings: TrainingSettings,
    *,
    seed: int,
    init_seed: int,
    device: torch.device,
    dtype: torch.dtype,
    feature_budget: int | None,
) -> Trained:
    """Train once, with the settings' own learning rate and weight decay."""
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
        progress = TrainingProgress(learner.snapshot, measure, settings, patience)
        if progress.validate() and learner.new:
            stream = updates(
                learner,
                problem.train,
                batch,
                seed=seed,
                budget=budget,
                augmented=settings.augment,
            )
            fit(stream, epoch, settings, progress)
        seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    prefix = price.prefix.on(problem.train) if learner.new and not settings.augment else 0.0
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
class TrainingProgress:
    """The state of a training at its validations: the weights to return, and whether to go on."""

    snapshot: Callable[[], dict[int, Weights]]
    """Returns a copy of the weights in training."""
    measure: Callable[[], tuple[float, float]]
    """Returns the validation loss and accuracy of the weights in training."""
    settings: TrainingSettings
    patience: int
    """After how many updates without a lower loss the training ends."""
    updates: int = 0
    validations: int = 0
    diverged: bool = False
    weights: dict[int, Weights] = field(default_factory=dict)
    loss: float = math.inf
    accuracy: float = 0.0
    lowest: tuple[float, int] = (math.inf, 0)
    """The lowest loss, and the number of updates when it was first reached."""
    history: list[tuple[int, float, float]] = field(default_factory=list)

    def validate(self, training_loss: float = 0.0) -> bool:
        """Measure the weights, keep them if they are the best, and return whether to go on."""
        loss, accuracy = self.measure()
        self.validations += 1
        self.diverged = not math.isfinite(loss + training_loss)
        if self.diverged:
            self.weights = self.weights or self.snapshot()
            return False
        if not self.history or self._better(loss, accuracy):
            self.weights, self.loss, self.accuracy = self.snapshot(), loss, accuracy
        self.history.append((self.updates, loss, accuracy))
        self.lowest = min(self.lowest, (loss, self.updates))
        return self.updates - self.lowest[1] < self.patience

    def _better(self, loss: float, accuracy: float) -> bool:
        return loss < self.loss if self.settings.select == "loss" else accuracy > self.accuracy


def updates(
    learner: Learner,
    split: Split,
    batch: int,
    *,
    seed: int,
    budget: Budget,
    augmented: bool = False,
) -> Iterator[Tensor]:
    """Make updates without end; yield the training loss before each."""
    labels = learner.targets(split.labels)
    stream = batches(
        split,
        labels,
        batch,
        seed=seed,
        by_image=bool(learner.below),
        shared=not (augmented or learner.whole_batch),
        augmented=augmented,
    )
    received = _crops(learner, split) if augmented else _features(learner, split, budget)
    for part in stream:
        chosen = (part.items,) if part.draws is None else (part.items, part.draws)
        yield learner.update(received(*chosen), part)


def fit(
    stream: Iterator[Tensor], epoch: int, settings: TrainingSettings, progress: TrainingProgress
) -> None:
    """Update until the patience or the limits are used up, and end with a validation."""
    every, limit = schedule(settings, epoch)
    for value in islice(stream, limit):
        progress.updates += 1
        due = progress.updates % every == 0 or progress.updates == limit
        if due and not progress.validate(float(value)):
            return


def schedule(settings: TrainingSettings, epoch: int) -> tuple[int, int]:
    """Return the updates between validations, and their limit, for epochs of ``epoch`` updates."""
    limit = settings.max_epochs * epoch
    if settings.max_updates is not None:
        limit = min(limit, settings.max_updates)
    return settings.validate_every or epoch, limit


def _crops(learner: Learner, split: Split) -> Callable[..., Tensor]:
    return augmented_below(
        learner.architecture,
        learner.weights,
        split,
        learner.start,
        device=learner.device,
        dtype=learner.dtype,
    )


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
    """Return a function that measures loss and accuracy on ``split``."""
    features = _features(learner, split, budget)
    index = rows(split, learner.device)
    labels = learner.targets(split.labels)

    def measure() -> tuple[float, float]:
        logits = learner.predict(features, len(split.images), index)
        answers = logits.squeeze(1) > 0 if labels.is_floating_point() else logits.argmax(1)
        return float(class_loss(logits, labels)), int((answers == labels).sum()) / len(split)

    return measure


@contextlib.contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """Within this context torch uses deterministic algorithms; an operator without one is an error.

    ``torch.use_deterministic_algorithms`` would do the same, but it imports torch's compiler, which
    takes seconds per process, and new memory would be filled, which takes time.
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
