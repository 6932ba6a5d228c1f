"""What a plan will take, before it runs: updates, FLOPs, storage and time, job by job."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING

from bell_bench.harness.plan import Plan, sequence_of
from bell_bench.harness.progress import Tell
from bell_bench.import_strings import load_object
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.settings import TrainingSettings
from bell_bench.plugins import registry
from bell_bench.records import Job, Record
from bell_bench.suites.base import ProblemSize
from bell_bench.work import PlannedProblem, Work

if TYPE_CHECKING:
    from bell_bench.harness.calibration import Machine

STRETCH = 2.0
"""Updates of a training per update of patience, as measured at ``quick`` (docs/distributed.md)."""
ENTRY = 4096
"""Bytes of an evaluation besides its weights: figures, costs and history."""


@dataclass(frozen=True)
class Amount:
    """What something takes; add them up."""

    trainings: float = 0.0
    updates: float = 0.0
    most_updates: float = 0.0
    """If no training stopped early."""
    train_flops: float = 0.0
    inference_flops: float = 0.0
    bytes: float = 0.0
    """Kept: weights in the library and in the evaluation store."""

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def times(self, factor: float) -> Amount:
        return Amount(*(factor * getattr(self, f.name) for f in fields(self)))

    @property
    def flops(self) -> float:
        return self.train_flops + self.inference_flops


@dataclass(frozen=True)
class TimeEstimate:
    """What one job takes; None where its algorithm does not say how much it trains."""

    job: Job
    amount: Amount | None

    def seconds(self, machine: Machine) -> float | None:
        if self.amount is None:
            return None
        return machine.start_seconds + machine.seconds(self.amount.updates, self.amount.flops)


def estimate(plan: Plan, tell: Tell) -> list[TimeEstimate]:
    """One per job that can run."""
    found = []
    for number, job in enumerate(plan.jobs, start=1):
        if job.name not in plan.unsupported:
            found.append(TimeEstimate(job, _job(job)))
            tell(f"counting {job.algorithm} {job.sequence}", number, len(plan.jobs))
    return found


def networks(plan: Plan) -> list[tuple[Architecture, TrainingSettings]]:
    """The different networks of a plan."""
    sequences = [sequence_of(job) for job in plan.jobs]
    found = ((size.architecture, each.settings) for each in sequences for size in each.sizes)
    return list(dict.fromkeys(found))


def _job(job: Job) -> Amount | None:
    work = _work(job)
    if work is None:
        return None
    total, earlier, sequence = Amount(), list[Architecture](), sequence_of(job)
    for size in sequence.sizes:
        fitting = tuple(_fitting(size.architecture, earlier))
        for training in work(PlannedProblem(fitting, len(earlier), job.options)):
            amount = _amount(size, sequence.settings, training.layers)
            total += amount.times(training.count)
        earlier.append(size.architecture)
    return total


def _work(job: Job) -> Work | None:
    """What the job's own provider declares; a local file declares nothing."""
    for each in registry().algorithms:
        if (each.spec.load, each.provider) == (job.load, job.provider) and each.spec.work:
            work: Work = load_object(each.spec.work)
            return work
    return None


def _fitting(architecture: Architecture, earlier: Sequence[Architecture]) -> Iterator[int]:
    for spec in architecture.modules:
        yield sum(spec in other.modules for other in earlier)


@lru_cache(maxsize=4096)
def _amount(size: ProblemSize, settings: TrainingSettings, trained: frozenset[int]) -> Amount:
    """One training of some layers, and its validations."""
    import torch

    from bell_bench.modular.cost import cost, weight_bytes
    from bell_bench.modular.training import schedule

    architecture, train = size.architecture, (size.train_images, size.train)
    frozen = frozenset(range(len(architecture))) - trained
    batch = min(settings.batch, size.train)
    costs = cost(architecture, frozen, settings, batch, torch.device("cpu"))
    every, most = schedule(settings, -(-size.train // settings.batch))
    updates = min(most, typical_updates(settings, size.train)) if trained else 0.0
    repeats = len(settings.grid) or 1
    checked = (size.validation_images, size.validation)
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


def typical_updates(settings: TrainingSettings, points: int) -> float:
    """A training ends when its patience does, some time after its best."""
    epoch = -(-points // settings.batch)
    return STRETCH * max(settings.patience, settings.patience_epochs * epoch)


def makespan(seconds: Iterable[float], slots: int) -> float:
    """When the last of some jobs ends that are begun in this order, ``slots`` at once."""
    waiting = list(seconds)
    free = [0.0] * max(1, min(slots, len(waiting)))
    for each in waiting:
        heapq.heappush(free, heapq.heappop(free) + each)
    return max(free)


def measured(record: Record) -> Amount:
    """What a job that has run was charged, in the same terms."""
    used = [problem.resources for problem in record.problems]
    return Amount(
        trainings=sum(each.paths_evaluated for each in used),
        updates=sum(each.updates for each in used),
        train_flops=sum(each.train_flops for each in used),
        inference_flops=sum(each.inference_flops for each in used),
    )
