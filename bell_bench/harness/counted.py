"""What a job trains, counted before anything runs from what its algorithm declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from bell_bench.errors import BellBenchError
from bell_bench.harness.plan import sequence_of
from bell_bench.harness.progress import Tell
from bell_bench.import_strings import load_object
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.settings import TrainingSettings
from bell_bench.plugins import registry
from bell_bench.records import Job
from bell_bench.suites.base import ProblemSize, SizedSequence
from bell_bench.work import PlannedProblem, Work

STRETCH = 2.0
"""Updates of a training per update of patience, as measured at ``quick`` (docs/distributed.md)."""
ENTRY = 4096
"""Bytes of a stored evaluation besides its weights: figures, costs and history."""


class Uncountable(BellBenchError):
    """A job cannot be counted; the message says why."""


@dataclass(frozen=True)
class Amount:
    """What something takes. Amounts can be added and multiplied."""

    trainings: float = 0.0
    updates: float = 0.0
    most_updates: float = 0.0
    """If no training stops early."""
    train_flops: float = 0.0
    inference_flops: float = 0.0
    bytes: float = 0.0
    """Counted: the weights that all trainings leave in the evaluation store. Recorded: what the
    algorithm keeps."""

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def times(self, factor: float) -> Amount:
        return Amount(*(factor * getattr(self, f.name) for f in fields(self)))

    @property
    def flops(self) -> float:
        return self.train_flops + self.inference_flops


class Sizes:
    """The sizes of the problems that jobs run on. Each sequence is asked once."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._known: dict[tuple[Any, ...], list[ProblemSize] | str] = {}

    def of(self, job: Job) -> list[ProblemSize]:
        """Return the sizes of a job's problems; raise Uncountable if nobody can tell them here."""
        key = (job.sequence, job.realisation_seed, *job.setting)
        if key not in self._known:
            self._known[key] = self._find(job)
        found = self._known[key]
        if isinstance(found, str):
            raise Uncountable(found)
        return found

    def _find(self, job: Job) -> list[ProblemSize] | str:
        """Return what the sequence says, or else what its problems show; a reason if neither is
        to be had."""
        sequence = sequence_of(job)
        if isinstance(sequence, SizedSequence):
            return [sequence.problem_size(index) for index in range(len(sequence))]
        if lacking := sequence.missing():
            told = "; ".join(f"{domain}: {why}" for domain, why in lacking.items())
            return f"the problems of {job.sequence} lack images ({told})"
        sizes: list[ProblemSize] = []
        try:
            for index in range(len(sequence)):
                sizes.append(ProblemSize.of(sequence.problem(index)))
                self._tell(f"making the problems of {job.sequence}", index + 1, len(sequence))
        except Exception as error:  # a plugin's, of any kind
            fault = f"{type(error).__name__}: {error}"
            return f"problem {len(sizes) + 1} of {job.sequence} cannot be made ({fault})"
        return sizes


def count(job: Job, sizes: Sizes) -> Amount:
    """Return what a job takes by its algorithm's ``work``; raise Uncountable if nobody can say."""
    work = _work(job)
    if work is None:
        raise Uncountable("nobody says how much they train")
    total, earlier, settings = Amount(), list[Architecture](), sequence_of(job).settings
    for size in sizes.of(job):
        planned = PlannedProblem(
            tuple(_fitting(size.architecture, earlier)), len(earlier), job.options
        )
        for training in work(planned):
            total += _amount(size, settings, training.layers).times(training.count)
        earlier.append(size.architecture)
    return total


def networks(jobs: Iterable[Job], sizes: Sizes) -> list[tuple[Architecture, TrainingSettings]]:
    """Return the different networks of some jobs, as far as they are known."""
    found: dict[tuple[Architecture, TrainingSettings], None] = {}
    for job in jobs:
        settings = sequence_of(job).settings
        with suppress(Uncountable):
            found |= dict.fromkeys((size.architecture, settings) for size in sizes.of(job))
    return list(found)


def _work(job: Job) -> Work | None:
    """Return what the job's own provider declares; a local file declares nothing."""
    for each in registry().algorithms:
        if (each.spec.load, each.provider) == (job.load, job.provider) and each.spec.work:
            work: Work = load_object(each.spec.work)
            return work
    return None


def _fitting(architecture: Architecture, earlier: Sequence[Architecture]) -> Iterator[int]:
    """Yield, layer by layer, how many earlier problems have a module that fits."""
    for spec in architecture.modules:
        yield sum(spec in other.modules for other in earlier)


@lru_cache(maxsize=4096)
def _amount(size: ProblemSize, settings: TrainingSettings, trained: frozenset[int]) -> Amount:
    """Return what one training of some layers takes, with its validations."""
    import torch

    from bell_bench.modular.cost import cost, weight_bytes
    from bell_bench.modular.training import schedule

    architecture = size.architecture
    train = (_images(architecture, size.train, size.train_images), size.train)
    checked = (_images(architecture, size.validation, size.validation_images), size.validation)
    frozen = frozenset(range(len(architecture))) - trained
    batch = min(settings.batch, size.train)
    costs = cost(architecture, frozen, settings, batch, torch.device("cpu"))
    every, most = schedule(settings, -(-size.train // settings.batch))
    updates = min(most, typical_updates(settings, size.train)) if trained else 0.0
    repeats = len(settings.grid) or 1
    return Amount(
        trainings=1.0,
        updates=repeats * updates,
        most_updates=repeats * most if trained else 0.0,
        train_flops=repeats * updates * costs.step,
        inference_flops=repeats * (updates / every + 1) * costs.rest.of(*checked)
        + (costs.prefix.of(*train) if trained else 0.0)
        + costs.prefix.of(*checked),
        bytes=weight_bytes(architecture, trained) + ENTRY,
    )


def _images(architecture: Architecture, inputs: int, different: int | None) -> int:
    """Return how many different images some inputs have, at most."""
    places = inputs * architecture.arity
    return places if different is None else min(places, different)


def typical_updates(settings: TrainingSettings, points: int) -> float:
    """Return how many updates a training lasts: it ends when its patience does, some time after
    its best."""
    epoch = -(-points // settings.batch)
    return STRETCH * max(settings.patience, settings.patience_epochs * epoch)
