"""One network for all problems, trained by Avalanche's strategy template with any plugin.

O-EWC and ER are built on it.
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

from bell_bench import (
    Architecture,
    Context,
    Problem,
    SharedAlgorithm,
    Split,
    Training,
    TrainingSettings,
    deterministic,
)
from bell_bench_avalanche.data import Task, make_dataset, make_experience
from bell_bench_avalanche.library import SupervisedTemplate
from bell_bench_avalanche.model import MultiHead
from bell_bench_avalanche.stopping import EarlyStopping


class Epochs:
    """A problem's batches [inputs, classes, item numbers, task labels]; one epoch per iteration.

    ``stream`` has batches of inputs, labels and item numbers without end, ``length`` per epoch.
    """

    def __init__(
        self, stream: Iterator[tuple[Tensor, Tensor, Tensor]], length: int, task: Task
    ) -> None:
        self.stream, self.length, self.task = stream, length, task

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
class PluginTraining(Training):
    """A training by Avalanche's template, and the plugin that took part in it."""

    plugin: Any


class PluginAlgorithm(SharedAlgorithm):
    """A ``SharedAlgorithm`` that Avalanche's template trains. A subclass gives an Avalanche plugin,
    which keeps the network from forgetting."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.model = MultiHead(context.seed)
        self.network = self.model.network

    def plugin(self, problem: Problem, settings: TrainingSettings) -> Any:
        """Return the Avalanche plugin that takes part while the network learns ``problem``."""
        raise NotImplementedError

    def inputs_per_update(self, size: int) -> int:
        """Return how many inputs an update has if ``size`` of them are the problem's own."""
        return size

    @property
    def tasks(self) -> dict[int, Task]:
        """The problems learnt so far, by index, as Avalanche's tasks."""
        return self.model.tasks

    def add(self, index: int, architecture: Architecture) -> None:
        first = sum(task.classes for task in self.tasks.values())
        self.model.add(Task(index, architecture, first, architecture.classes))

    def train(self, problem: Problem, settings: TrainingSettings) -> PluginTraining:
        context, task = self.context, self.tasks[problem.index]
        stopping = EarlyStopping(settings).on(problem)
        plugin = self.plugin(problem, settings)
        points = len(problem.train)
        length = math.ceil(points / min(settings.batch, points))
        strategy = OnEpochs(
            epochs=Epochs(self.suite_batches(problem, settings), length, task),
            model=self.model,
            optimizer=self.suite_optimiser(settings),
            train_epochs=settings.max_epochs,
            device=context.device,
            plugins=[stopping, plugin],
            evaluator=None,
        )
        experience = make_experience(make_dataset(problem.train, task), task)
        with deterministic(context.device):
            strategy.train(experience, eval_streams=[])
        progress = stopping.progress
        own, best = "network.", progress.weights[0].items()
        progress.weights = {0: {k.removeprefix(own): w for k, w in best if k.startswith(own)}}
        return PluginTraining(progress, self.update_flops(problem), plugin)

    def update_flops(self, problem: Problem) -> float:
        """Return the FLOPs of an update's gradients, counted on a copy of the weights."""
        model, device = copy.deepcopy(self.model), self.context.device
        points = len(problem.train)
        size = self.inputs_per_update(min(self.context.settings.batch, points))

        def gradients() -> None:
            chosen = torch.arange(size) % points  # repeats inputs where the problem has too few
            inputs, classes = self.examples(problem.index, problem.train, chosen)
            output = model(inputs.to(device), problem.index)
            functional.cross_entropy(output, classes.to(device)).backward()

        return self.context.count(gradients)

    def examples(self, index: int, split: Split, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Return some inputs (n, arity, …) of problem ``index`` and their classes as Avalanche has
        them, numbered through all problems."""
        images, rows = split.tensors()
        classes = torch.from_numpy(split.labels)[chosen] + self.tasks[index].first
        return images[rows[chosen]], classes
