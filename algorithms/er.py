"""ER: experience replay from a tiny memory (Chaudhry et al., 2019)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bell_bench.algorithm import Context
from bell_bench.avalanche.data import Task, joined
from bell_bench.avalanche.library import SupervisedPlugin
from bell_bench.problem import Problem, Split
from bell_bench_algorithms.shared import SharedParameters, examples

PER_CLASS = 15
"""Where the protocol says nothing, as for CTrL: the paper's number for multi-class problems."""


class Ring:
    """The last so many distinct items of each class that training has seen."""

    def __init__(self, per_class: int) -> None:
        self.per_class = per_class
        self.seen: dict[int, dict[int, None]] = defaultdict(dict)

    def push(self, classes: Tensor, items: Tensor) -> None:
        for label, item in zip(classes.tolist(), items.tolist(), strict=True):
            ring = self.seen[label]
            ring.pop(item, None)
            ring[item] = None
            if len(ring) > self.per_class:
                del ring[next(iter(ring))]

    @property
    def items(self) -> list[int]:
        """All items kept, class by class."""
        return [item for label in sorted(self.seen) for item in self.seen[label]]


class Replay(SupervisedPlugin):
    """Joins each batch with as many stored examples of former problems, drawn at random."""

    def __init__(self, memory: list[Tensor], ring: Ring, generator: torch.Generator) -> None:
        super().__init__()
        self.memory, self.ring, self.generator = memory, ring, generator

    def before_training_iteration(self, strategy: Any, **kwargs: Any) -> None:
        inputs, classes, items, tasks = strategy.mbatch
        self.ring.push(classes, items)
        if self.memory:
            stored, labels, former = self.memory
            order = torch.randperm(len(stored), generator=self.generator)
            chosen = order[: len(inputs)].to(inputs.device)
            inputs = joined([inputs, stored[chosen]])
            classes = torch.cat([classes, labels[chosen]])
            tasks = torch.cat([tasks, former[chosen]])
        strategy.mbatch = [inputs, classes, tasks]


class ER(SharedParameters):
    """Keeps a ring of examples per class of each problem."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        published = getattr(context.protocol, "er_per_class", PER_CLASS)
        self.per_class: int = options["per_class"] or published
        self.kept: list[Split] = []
        """The stored examples of each problem."""

    def plugin(self, problem: Problem, task: Task) -> Replay:
        generator = self.context.generator("replay", problem.index)
        return Replay(self.memory(), Ring(self.per_class), generator)

    def memory(self) -> list[Tensor]:
        """Inputs, classes and task labels of all stored examples; nothing before the first."""
        if not self.kept:
            return []
        tasks = self.tasks[: len(self.kept)]
        found = [
            examples(split, task, torch.arange(len(split)))
            for split, task in zip(self.kept, tasks, strict=True)
        ]
        labels = [
            torch.full((len(classes),), task.label)
            for (_, classes), task in zip(found, tasks, strict=True)
        ]
        parts = [joined([x for x, _ in found]), torch.cat([y for _, y in found]), torch.cat(labels)]
        return [part.to(self.context.device) for part in parts]

    def keep(self, problem: Problem, task: Task, plugin: Replay) -> None:
        self.kept.append(subset(problem.train, plugin.ring.items))

    def batch(self, size: int) -> int:
        return size + min(size, sum(map(len, self.kept)))

    def tensors(self) -> dict[str, Tensor]:
        return {
            f"{number}/{name}": torch.from_numpy(np.ascontiguousarray(array))
            for number, split in enumerate(self.kept)
            for name, array in (
                ("images", split.images),
                ("index", split.index),
                ("labels", split.labels),
                ("scale", np.array([split.mean, split.std])),
            )
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        found = {name: tensor.numpy() for name, tensor in tensors.items()}
        for number in range(len(self.tasks)):
            images, index, labels, scale = (
                found[f"{number}/{name}"] for name in ("images", "index", "labels", "scale")
            )
            self.kept.append(Split(images, index, *map(float, scale), labels=labels))


def subset(split: Split, items: list[int]) -> Split:
    """Some items of a split, with none but their own images."""
    images, index = np.unique(split.index[items], return_inverse=True)
    return Split(
        np.asarray(split.images[images]),
        index.reshape(len(items), split.arity).astype(np.int32),
        split.mean,
        split.std,
        labels=split.labels[items],
    )
