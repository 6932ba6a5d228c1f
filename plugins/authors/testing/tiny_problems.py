"""Small worlds to try an algorithm in: sequences of tiny problems for the contracts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from bell_bench.modular.settings import TrainingSettings
from bell_bench.plugins import registry
from bell_bench.problem import Array, Inputs, Problem, Split, hash_arrays
from bell_bench.suites.bell.architecture import PIXELS, architecture

POINTS, FEW, IMAGES, CLASSES, WIDTH = 48, 10, 32, 8, 4
BRIEF: dict[str, Any] = {
    "batch": 16,
    "max_epochs": 4,
    "max_updates": 12,
    "patience": 12,
    "patience_epochs": 0,
    "validate_every": 6,
}
"""Settings for training that ends at once."""
AnyInputs = TypeVar("AnyInputs", bound=Inputs)


@dataclass(frozen=True)
class TinyTask:
    """A problem, and its test set, which only the checks may see."""

    problem: Problem
    test: Split


@dataclass(frozen=True)
class World:
    """Sequences by name, and the settings of a job on them."""

    suite: str
    sequence: str
    protocol: Any
    protocol_name: str
    settings: TrainingSettings
    sequences: Mapping[str, Sequence[TinyTask]]


def copied(split: AnyInputs) -> AnyInputs:
    """Return the split with copies of its arrays, so that changing them changes nothing else."""
    return dataclasses.replace(split, **{name: array.copy() for name, array in _arrays(split)})


def fingerprint(*splits: Inputs) -> str:
    """Return a hash of images, rows and, if there are any, labels."""
    return hash_arrays(array for split in splits for _, array in _arrays(split))


def _arrays(split: Inputs) -> list[tuple[str, Array]]:
    return [(name, value) for name, value in vars(split).items() if isinstance(value, np.ndarray)]


def world_for(suites: Sequence[str]) -> World:
    """Return hand-made problems if BELL is supported, else shortened ones of the first suite."""
    return _handmade() if not suites or "bell" in suites else _cut_down(suites[0])


def _handmade() -> World:
    """Return problems with the inputs of BELL: pairs of images, single images, pairs of vectors."""
    suite = registry().suite("bell")
    name, protocol = next(iter(suite.protocols.items()))
    pair, again = {"domain": 1}, {"domain": 1, "turned": True}
    sequences: dict[str, list[dict[str, Any]]] = {
        "plain": [pair, {"domain": 2}, again],
        "few": [pair, {"domain": 2, "points": FEW}, {"domain": 1, "points": FEW}],
        "classes": [pair, {"domain": 1, "pairs": False}, {"domain": 2}],
        "mixed": [pair, {"domain": 2, "space": "vector"}, {"domain": 3, "pairs": False}, again],
    }
    return World(
        "bell",
        "S_few",
        protocol,
        name,
        TrainingSettings(learning_rate=0.002, weight_decay=0.1, **BRIEF),
        {
            name: [_task(index, **wish) for index, wish in enumerate(wishes)]
            for name, wishes in sequences.items()
        },
    )


def _task(
    index: int,
    *,
    domain: int,
    space: str = "image",
    pairs: bool = True,
    points: int = POINTS,
    turned: bool = False,
) -> TinyTask:
    drawn = architecture(space, pairs=pairs, width=WIDTH, vector_layers=2)
    splits = [
        _split(np.random.RandomState(100 * domain + part), domain, size, space, pairs, turned)
        for part, size in enumerate((points, points, POINTS))
    ]
    classes = 2 if pairs else CLASSES
    name = f"{space}s of domain {domain}, {'pairs' if pairs else 'single'}, {points} points"
    return TinyTask(Problem(index, name, splits[0], splits[1], classes, drawn), splits[2])


def _split(
    random: np.random.RandomState, domain: int, points: int, space: str, pairs: bool, turned: bool
) -> Split:
    """Return noisy images of eight shapes. A pair's label says in which half of the shapes its
    first image is, or its second if ``turned``."""
    shapes = np.random.RandomState(domain).randint(40, 216, (CLASSES, 7, 7))
    of_class = np.arange(IMAGES) % CLASSES
    clean = shapes[of_class].repeat(PIXELS // 7, axis=1).repeat(PIXELS // 7, axis=2)
    noisy = clean + random.randint(-40, 40, clean.shape)
    images: Array = noisy.astype(np.uint8)
    if space == "vector":
        images = images.reshape(IMAGES, -1)
    index = random.randint(0, IMAGES, (points, 2 if pairs else 1)).astype(np.int32)
    labels = of_class[index[:, 1 if turned else 0]]
    labels = (labels < CLASSES // 2 if pairs else labels).astype(np.int64)
    return Split(images, index, mean=128.0, std=60.0, labels=labels)


def _cut_down(name: str) -> World:
    """Return the first problems of a suite's first sequence, with a few points of each."""
    suite = registry().suite(name)
    chosen = next(iter(suite.sequences))
    protocol = next(iter(suite.protocols))
    sequence = suite.sequence(
        chosen,
        seed=suite.realisation_seed(chosen, 0),
        scale=next(iter(suite.scales)),
        protocol=protocol,
        data=next(iter(suite.sources)),
    )
    tasks = [
        TinyTask(_cut(sequence.problem(index), POINTS), _fewer(sequence.test(index), POINTS))
        for index in range(min(3, len(sequence)))
    ]
    few = [tasks[0], *(TinyTask(_cut(task.problem, FEW), task.test) for task in tasks[1:])]
    classes = tasks if len({task.problem.classes for task in tasks}) > 1 else []
    return World(
        suite.name,
        chosen,
        suite.protocols[protocol],
        protocol,
        dataclasses.replace(sequence.settings, **BRIEF),
        {"plain": tasks, "few": few, "classes": classes, "mixed": []},
    )


def _cut(problem: Problem, points: int) -> Problem:
    return dataclasses.replace(
        problem,
        train=_fewer(problem.train, points),
        validation=_fewer(problem.validation, points),
        fingerprint="",
    )


def _fewer(split: Split, points: int) -> Split:
    """Return some of the points, with the images they need."""
    return split.subset(np.random.RandomState(0).permutation(len(split))[:points])
