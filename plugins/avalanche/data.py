"""Problems as Avalanche's datasets and experiences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import Dataset

from bell_bench.modular.architecture import Architecture
from bell_bench.problem import Inputs, Problem, Split
from bell_bench_avalanche.library import (
    ConstantSequence,
    DataAttribute,
    DatasetExperience,
    TaskAwareSupervisedClassificationDataset,
    TaskLabels,
)


@dataclass(frozen=True)
class Task:
    """A problem as a multi-head model sees it; our experiences have it as ``our_task``."""

    label: int
    """The task label: the problem's number in its sequence."""
    architecture: Architecture
    first: int
    """The number of its first class; classes are numbered through the sequence."""
    classes: int

    @property
    def units(self) -> slice:
        """The positions of its classes among those of all tasks."""
        return slice(self.first, self.first + self.classes)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "architecture": self.architecture.to_json()}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Task:
        return Task(**{**data, "architecture": Architecture.from_json(data["architecture"])})

    @staticmethod
    def next(problem: Problem, before: Sequence[Task]) -> Task:
        """Return the task of a problem that follows the tasks ``before``."""
        first = before[-1].units.stop if before else 0
        return Task(problem.index, problem.architecture, first, problem.classes)


class Items(Dataset[tuple[Any, int]]):
    """The items of a split: an item is its images (arity, …), standardised when read, and its
    class."""

    tell_origin = False
    """If true, an item is instead this object and the item's number in it; only ``items_of`` sets
    it."""

    def __init__(self, inputs: Inputs, classes: Sequence[int], task: int) -> None:
        self.inputs = inputs
        self.classes = classes
        self.task = task

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, number: int) -> tuple[Any, int]:
        if Items.tell_origin:
            return self, number
        inputs = self.inputs
        images = inputs.images[inputs.index[number]].astype(np.float32)
        scaled = (images - np.float32(inputs.mean)) / np.float32(inputs.std)
        return torch.from_numpy(scaled), self.classes[number]


def joined(parts: Sequence[Tensor]) -> Tensor:
    """Return batches of items one after another. If their shapes differ, they are flattened and
    padded with zeros.

    Replay puts problems of pairs and of single images, of images and of vectors, into one batch.
    """
    if len({part.shape[1:] for part in parts}) == 1:
        return torch.cat(list(parts))
    flat = [part.flatten(1) for part in parts]
    widest = max(part.shape[1] for part in flat)
    return torch.cat([functional.pad(part, (0, widest - part.shape[1])) for part in flat])


def collate(items: Sequence[Sequence[Any]]) -> list[Tensor]:
    """Return a batch of items (x, class, …, task label)."""
    images, *others = zip(*items, strict=True)
    return [joined([x.unsqueeze(0) for x in images]), *(torch.tensor(each) for each in others)]


def make_dataset(inputs: Inputs, task: Task) -> Any:
    """Return an Avalanche dataset of a split; inputs without labels get the task's first class."""
    if isinstance(inputs, Split):
        classes = (inputs.labels + task.first).tolist()
    else:
        classes = [task.first] * len(inputs)
    return TaskAwareSupervisedClassificationDataset(
        [Items(inputs, classes, task.label)],
        data_attributes=[
            DataAttribute(classes, "targets"),
            TaskLabels(ConstantSequence(task.label, len(inputs))),
        ],
        collate_fn=collate,
    )


def items_of(dataset: Any) -> list[tuple[Any, int]]:
    """Return, for each entry of one of our Avalanche datasets, its ``Items`` and its number there.

    The entries themselves give the answer, because the parts of an Avalanche dataset are not
    public.
    """
    Items.tell_origin = True
    try:
        return [tuple(dataset[place][:2]) for place in range(len(dataset))]
    finally:
        Items.tell_origin = False


def make_experience(dataset: Any, task: Task) -> Any:
    """Return an experience outside any stream, for one problem at a time."""
    experience = DatasetExperience(dataset=dataset, current_experience=task.label)
    experience.our_task = task
    experience.task_label, experience.task_labels = task.label, [task.label]
    experience.classes_in_this_experience = set(range(task.first, task.units.stop))
    experience.previous_classes = set(range(task.first))
    experience.classes_seen_so_far = set(range(task.units.stop))
    return experience
