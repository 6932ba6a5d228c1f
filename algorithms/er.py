"""ER: experience replay from a tiny memory (Chaudhry et al., 2019)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bell_bench.algorithm import Context
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.shared_algorithm import crop
from bell_bench.problem import Problem, Split
from bell_bench_algorithms.shared import PluggedTraining, SharedParameters, examples, under
from bell_bench_avalanche.data import joined
from bell_bench_avalanche.library import SupervisedPlugin

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
    """Joins each batch with as many stored examples of former problems, drawn at random; if there
    are ``crops``, cropped and mirrored as the problem's own are."""

    def __init__(
        self,
        memory: list[Tensor],
        ring: Ring,
        generator: torch.Generator,
        crops: np.random.RandomState | None = None,
    ) -> None:
        super().__init__()
        self.memory, self.ring, self.generator, self.crops = memory, ring, generator, crops

    def before_training_iteration(self, strategy: Any, **kwargs: Any) -> None:
        inputs, classes, items, tasks = strategy.mbatch
        self.ring.push(classes, items)
        if self.memory:
            stored, labels, former = self.memory
            order = torch.randperm(len(stored), generator=self.generator)
            chosen = order[: len(inputs)].to(inputs.device)
            replayed = stored[chosen]
            if self.crops is not None:
                replayed = crop(replayed, self.crops)
            inputs = joined([inputs, replayed])
            classes = torch.cat([classes, labels[chosen]])
            tasks = torch.cat([tasks, former[chosen]])
        strategy.mbatch = [inputs, classes, tasks]


class ER(SharedParameters):
    """Keeps a ring of examples per class of each problem."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        published = getattr(context.protocol, "er_per_class", PER_CLASS)
        self.per_class: int = options["per_class"] or published

    def plugin(self, problem: Problem, settings: TrainingSettings) -> Replay:
        generator = self.context.generator("replay", problem.index)
        seed = generator.initial_seed() % 2**32
        crops = np.random.RandomState(seed) if settings.augment else None
        return Replay(self.memory(), Ring(self.per_class), generator, crops)

    def memory(self) -> list[Tensor]:
        """Inputs, classes and task labels of all stored examples; nothing before the first."""
        stored = self.stored()
        if not stored:
            return []
        found = [
            examples(split, self.tasks[index], torch.arange(len(split)))
            for index, split in stored.items()
        ]
        labels = [torch.full((len(split),), index) for index, split in stored.items()]
        parts = [joined([x for x, _ in found]), torch.cat([y for _, y in found]), torch.cat(labels)]
        return [part.to(self.context.device) for part in parts]

    def stored(self) -> dict[int, Split]:
        """The stored examples of each former problem."""
        found = {index: under(f"{index}/", self.kept) for index in self.tasks}
        return {index: _split(tensors) for index, tensors in found.items() if tensors}

    def remember(self, problem: Problem, training: PluggedTraining) -> None:
        split = problem.train.subset(training.plugin.ring.items)
        parts = {
            "images": split.images,
            "index": split.index,
            "labels": split.labels,
            "scale": np.array([split.mean, split.std], dtype=np.float32),
        }
        for name, array in parts.items():
            tensor = torch.from_numpy(np.ascontiguousarray(array))
            self.keep(f"{problem.index}/{name}", tensor)

    def batch(self, size: int) -> int:
        return size + min(size, sum(map(len, self.stored().values())))


def _split(tensors: dict[str, Tensor]) -> Split:
    images, index, labels, scale = (
        tensors[name].cpu().numpy() for name in ("images", "index", "labels", "scale")
    )
    return Split(images, index, *map(float, scale), labels=labels)
