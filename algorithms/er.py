"""ER: experience replay from a tiny memory (Chaudhry et al., 2019)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bell_bench import Context, Problem, Split, TrainingSettings, crop_and_mirror
from bell_bench_avalanche import PluginAlgorithm, PluginTraining, SupervisedPlugin, joined

PER_CLASS = 15
"""Examples stored per class, as published for CTrL."""
PUBLISHED = {("bell", "paper"): 40, ("bell", "authors-code"): 20}
"""The same for other suites, by suite and protocol."""


class Ring:
    """The last so many distinct items of each class that training has seen."""

    def __init__(self, per_class: int) -> None:
        self.per_class = per_class
        self.seen: dict[int, dict[int, None]] = defaultdict(dict)

    def push(self, classes: Tensor, items: Tensor) -> None:
        """Add the items of a batch; the oldest of a class make room."""
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
    """Adds as many stored examples of former problems to each batch, drawn at random.

    If ``crops`` is given, they are cropped and mirrored as the problem's own images are.
    """

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
                replayed = crop_and_mirror(replayed, self.crops)
            inputs = joined([inputs, replayed])
            classes = torch.cat([classes, labels[chosen]])
            tasks = torch.cat([tasks, former[chosen]])
        strategy.mbatch = [inputs, classes, tasks]


class ER(PluginAlgorithm):
    """Stores the last examples of each class of each problem and replays them."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        protocol = getattr(context.protocol, "name", "")
        published = PUBLISHED.get((context.suite, protocol), PER_CLASS)
        self.per_class: int = options["per_class"] or published

    def plugin(self, problem: Problem, settings: TrainingSettings) -> Replay:
        generator = self.context.generator("replay", problem.index)
        seed = generator.initial_seed() % 2**32
        crops = np.random.RandomState(seed) if settings.augment else None
        return Replay(self.memory(), Ring(self.per_class), generator, crops)

    def memory(self) -> list[Tensor]:
        """Return inputs, classes and task labels of all stored examples; [] if there are none."""
        stored = self.stored()
        if not stored:
            return []
        found = [
            self.examples(index, split, torch.arange(len(split))) for index, split in stored.items()
        ]
        labels = [torch.full((len(split),), index) for index, split in stored.items()]
        parts = [joined([x for x, _ in found]), torch.cat([y for _, y in found]), torch.cat(labels)]
        return [part.to(self.context.device) for part in parts]

    def stored(self) -> dict[int, Split]:
        """Return the stored examples of each former problem."""
        found = {index: self.kept_under(f"{index}/") for index in self.tasks}
        return {index: _split(tensors) for index, tensors in found.items() if tensors}

    def remember(self, problem: Problem, training: PluginTraining) -> None:
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

    def inputs_per_update(self, size: int) -> int:
        return size + min(size, sum(map(len, self.stored().values())))


def _split(tensors: dict[str, Tensor]) -> Split:
    images, index, labels, scale = (
        tensors[name].cpu().numpy() for name in ("images", "index", "labels", "scale")
    )
    return Split(images, index, *map(float, scale), labels=labels)
