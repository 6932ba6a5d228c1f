"""What O-EWC and ER share: one network for all problems, trained by Avalanche's strategy template.

Problems share a module wherever the types match; each has a head of its own.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from bell_bench.algorithm import Context
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.module import optimiser
from bell_bench.modular.network import pixels
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.shared_algorithm import SharedAlgorithm, Training, training_batches
from bell_bench.modular.training import deterministic
from bell_bench.problem import Problem, Split
from bell_bench_avalanche.data import Task, make_dataset, make_experience
from bell_bench_avalanche.library import SupervisedTemplate
from bell_bench_avalanche.model import MultiHead
from bell_bench_avalanche.stopping import EarlyStopping


class Epochs:
    """A problem's batches [inputs, classes, item numbers, task labels]; one epoch per iteration."""

    def __init__(
        self,
        problem: Problem,
        task: Task,
        size: int,
        seed: int,
        device: torch.device,
        augmented: bool = False,
    ) -> None:
        size = min(size, len(problem.train))
        self.length = math.ceil(len(problem.train) / size)
        self.task = task
        self.stream = training_batches(problem, size, seed, device, augmented)

    def __iter__(self) -> Iterator[list[Tensor]]:
        for inputs, labels, items in islice(self.stream, self.length):
            tasks = torch.full_like(items, self.task.label)
            yield [inputs, labels + self.task.first, items, tasks]


class OnEpochs(SupervisedTemplate):
    """Avalanche's strategy template, fed by whole batches instead of item by item."""

    def __init__(self, *, epochs: Epochs, **settings: Any) -> None:
        super().__init__(**settings)
        self.epochs = epochs

    def make_train_dataloader(self, **kwargs: Any) -> None:
        self.dataloader = self.epochs


@dataclass(frozen=True)
class PluggedTraining(Training):
    """A training by Avalanche's template, and the plugin that took part."""

    plugin: Any


class SharedParameters(SharedAlgorithm):
    """Trains by Avalanche's template; a plugin of the subclass's keeps it from forgetting."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.model = MultiHead(context.seed)
        self.network = self.model.network

    def plugin(self, problem: Problem, settings: TrainingSettings) -> Any:
        """What keeps the network from forgetting while it learns ``problem``."""
        raise NotImplementedError

    def batch(self, size: int) -> int:
        """How many inputs an update has, of which ``size`` are the problem's."""
        return size

    @property
    def tasks(self) -> dict[int, Task]:
        return self.model.tasks

    def add(self, index: int, architecture: Architecture) -> None:
        first = sum(task.classes for task in self.tasks.values())
        self.model.add(Task(index, architecture, first, architecture.classes))

    def train(self, problem: Problem, settings: TrainingSettings) -> PluggedTraining:
        context, task = self.context, self.tasks[problem.index]
        stopping = EarlyStopping(settings).on(problem)
        plugin = self.plugin(problem, settings)
        augmented = settings.augment
        strategy = OnEpochs(
            epochs=Epochs(problem, task, settings.batch, context.seed, context.device, augmented),
            model=self.model,
            optimizer=optimiser(self.model.parameters(), settings),
            train_epochs=settings.max_epochs,
            device=context.device,
            plugins=[stopping, plugin],
            evaluator=None,
        )
        experience = make_experience(make_dataset(problem.train, task), task)
        with deterministic(context.device):
            strategy.train(experience, eval_streams=[])
        progress = stopping.progress
        progress.weights = {0: under("network.", progress.weights[0])}
        return PluggedTraining(progress, self.update_flops(problem), plugin)

    def update_flops(self, problem: Problem) -> float:
        """Of an update's gradients, counted on throw-away weights."""
        model = copy.deepcopy(self.model)
        size = self.batch(min(self.context.settings.batch, len(problem.train)))
        return self.context.count(lambda: gradient_step(model, problem, size))


def gradient_step(model: MultiHead, problem: Problem, size: int) -> None:
    """The gradients of ``size`` inputs, as often as the problem has to repeat its own for that."""
    chosen = torch.arange(size) % len(problem.train)
    inputs, classes = examples(problem.train, model.tasks[problem.index], chosen)
    device = next(model.parameters()).device
    output = model(inputs.to(device), problem.index)
    functional.cross_entropy(output, classes.to(device)).backward()


def examples(split: Split, task: Task, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Some inputs (n, arity, …) of a split, standardised, and their classes in the sequence."""
    images, index = pixels(split, torch.device("cpu"), torch.float32), torch.from_numpy(split.index)
    classes = torch.from_numpy(split.labels)[chosen] + task.first
    return images[index[chosen].long()], classes


def under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Those whose names begin so, by the rest of their names."""
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
