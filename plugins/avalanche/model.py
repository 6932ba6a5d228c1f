"""The suite's networks as Avalanche's multi-task models."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import torch
from torch import Tensor, nn

from bell_bench.modular.evaluator import derive_seed
from bell_bench.modular.module import SharedNetwork
from bell_bench_avalanche.data import Task
from bell_bench_avalanche.library import MultiTaskModule

MASKED = -1000.0
"""The logit for classes of other tasks; Avalanche's own multi-head classifier uses the same."""


class TypedModel(MultiTaskModule):
    """A shared network that grows by what each new task needs; the seed determines all its
    weights."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.network = SharedNetwork()
        self.tasks: dict[int, Task] = {}

    def adaptation(self, experience: Any) -> None:
        """Add the experience's task. Avalanche calls this before it trains or evaluates on an
        experience."""
        super().adaptation(experience)
        self.add(experience.our_task)

    def add(self, task: Task) -> None:
        if task.label not in self.tasks:
            self.tasks[task.label] = task
            init_seed = derive_seed("shared weights", self.seed, task.label)
            self.network.add(task.label, task.architecture, init_seed)

    def unpacked(self, x: Tensor, task: int) -> Tensor:
        """Return a task's inputs (n, arity, …) from items that may be flattened and padded."""
        architecture = self.tasks[task].architecture
        shape = (architecture.arity, *architecture[0].source.shape)
        return x.flatten(1)[:, : math.prod(shape)].reshape(-1, *shape)

    def groups(self, tasks: list[int]) -> list[list[int]]:
        """Return groups of tasks whose heads receive the same features, which can be computed
        together."""
        found = defaultdict(list)
        for task in tasks:
            architecture = self.tasks[task].architecture
            shape = architecture.arity, architecture.joint, architecture[0].source
            found[self.network.body(task), shape].append(task)
        return list(found.values())

    def forward(self, x: Tensor, task_labels: Tensor | int | None) -> Any:
        if task_labels is None:
            return self.forward_all_tasks(x)
        if isinstance(task_labels, int):
            return self.forward_single_task(x, task_labels)
        present = torch.unique(task_labels).tolist()
        if len(present) == 1:
            return self.forward_single_task(x, present[0])
        return self.forward_tasks(x, task_labels, present)

    def forward_tasks(self, x: Tensor, task_labels: Tensor, present: list[int]) -> Tensor:
        """Return the outputs for a batch of several tasks."""
        parts, places = [], []
        for members in self.groups(present):
            rows = torch.isin(task_labels, torch.tensor(members, device=x.device)).nonzero()[:, 0]
            features = self.network.features(members[0], self.unpacked(x[rows], members[0]))
            for task in members:
                own = (task_labels[rows] == task).nonzero()[:, 0]
                parts.append(self.outputs(features[own], task))
                places.append(rows[own])
        return torch.cat(parts)[torch.argsort(torch.cat(places))]

    def forward_single_task(self, x: Tensor, task_label: int) -> Tensor:
        features = self.network.features(task_label, self.unpacked(x, task_label))
        return self.outputs(features, task_label)

    def outputs(self, features: Tensor, task: int) -> Tensor:
        """Return the model's outputs from the features that the task's head receives."""
        raise NotImplementedError


class MultiHead(TypedModel):
    """A model with one head per task.

    A binary head has one logit z and outputs (0, z), so that cross-entropy equals the suite's
    binary cross-entropy. Classes of other tasks are masked.
    """

    def outputs(self, features: Tensor, task: int) -> Tensor:
        logits = self.network.head(task).logits(features)
        if logits.shape[1] == 1:
            logits = torch.cat([torch.zeros_like(logits), logits], dim=1)
        units = self.tasks[task].units
        width = max(each.units.stop for each in self.tasks.values())
        before = logits.new_full((len(logits), units.start), MASKED)
        after = logits.new_full((len(logits), width - units.stop), MASKED)
        return torch.cat([before, logits, after], dim=1)


class Embedding(TypedModel):
    """A model with one last layer for all tasks, on the features that their heads would receive;
    for strategies that compare embeddings (CoPE). Avalanche looks for this layer as
    ``classifier``."""

    def __init__(self, seed: int, first: Task, size: int) -> None:
        super().__init__(seed)
        self.add(first)
        spec = first.architecture.modules[-1]
        generator = torch.Generator().manual_seed(derive_seed("embedding", seed))
        inputs = spec.join * math.prod(spec.source.shape)
        self.classifier: nn.Module = nn.Linear(inputs, size)
        nn.init.xavier_uniform_(self.classifier.weight, generator=generator)
        nn.init.zeros_(self.classifier.bias)

    def outputs(self, features: Tensor, task: int) -> Tensor:
        embedded = self.classifier(features.flatten(1))
        assert isinstance(embedded, Tensor)
        return embedded


def make_model(benchmark: Any, seed: int) -> MultiHead:
    """Return a multi-head model with all tasks of a benchmark."""
    model = MultiHead(seed)
    for experience in benchmark.train_stream:
        model.add(experience.our_task)
    return model
