"""What a suite is: named sequences of problems, made one at a time. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Protocol, runtime_checkable

from bell_bench.errors import UsageError
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem, Split


@dataclass(frozen=True)
class SequenceInfo:
    """A sequence by name, for listings."""

    name: str
    tests: str
    """What property it tests, in a few words."""
    summary: str
    length: int
    short: bool = True
    """Whether ``evaluate`` runs it by default."""


@dataclass(frozen=True)
class ProblemSize:
    """A problem's network and how much data it has, from which a plan counts costs."""

    architecture: Architecture
    train: int
    """How many inputs there are to train on."""
    validation: int
    """How many inputs there are to validate on."""
    train_images: int | None = None
    """How many different images these are made of, at most; None if no two need share one."""
    validation_images: int | None = None

    @classmethod
    def of(cls, problem: Problem) -> ProblemSize:
        """Return the size of a problem that has been made."""
        train, validation = problem.train, problem.validation
        return cls(problem.architecture, len(train), len(validation),
                   len(train.images), len(validation.images))  # fmt: skip


class Sequence(Protocol):
    """One realisation of a sequence at one scale. Every problem is made on its own, when asked."""

    @property
    def settings(self) -> TrainingSettings: ...

    @property
    def domains(self) -> tuple[str, ...]:
        """The image domains it needs, in order of first use."""
        ...

    def __len__(self) -> int: ...

    def missing(self) -> Mapping[str, str]:
        """The domains whose images are not here: why, and what to do. Cheap."""
        ...

    def problem(self, index: int) -> Problem: ...

    def test(self, index: int) -> Split: ...

    def describe(self) -> list[dict[str, Any]]:
        """One JSON-able row per problem."""
        ...


@runtime_checkable
class SizedSequence(Protocol):
    """What a sequence may add, so that ``bell-bench plan`` need not make its problems to count."""

    def problem_size(self, index: int) -> ProblemSize:
        """Return the size of a problem. It needs no image."""
        ...


class Suite(Protocol):
    """Sequences, scales and protocols under one name and version."""

    name: str
    version: str
    """Changes when the suite's numbers would."""
    sequences: Mapping[str, SequenceInfo]
    scales: Mapping[str, Any]
    protocols: Mapping[str, Any]

    @property
    def sources(self) -> Mapping[str, str]:
        """Where images may come from (``--data``), each with a summary; the first is the
        default."""
        ...

    def realisation_seed(self, sequence: str, realisation: int) -> int:
        """The seed of realisation 0, 1, …: the published ones first."""
        ...

    def sequence(
        self, name: str, *, seed: int, scale: str, protocol: str, data: str
    ) -> Sequence: ...


def check_seed(seed: int) -> None:
    """Python's ``random.Random(-3)`` is its ``random.Random(3)``: two names for one realisation."""
    if seed < 0:
        raise UsageError(f"seeds of realisations count from 0; {seed} was asked for")


def fields_of(preset: object) -> dict[str, Any]:
    """A scale or protocol, a dataclass or a mapping, as JSON-able fields."""
    if is_dataclass(preset) and not isinstance(preset, type):
        return asdict(preset)
    return dict(preset) if isinstance(preset, Mapping) else {}


def recorded_settings(
    suite: Suite, sequence: Sequence, *, scale: str, protocol: str
) -> dict[str, Any]:
    """What a record holds of its job's settings."""
    return {
        "training": asdict(sequence.settings),
        "scale": fields_of(suite.scales[scale]),
        "protocol": fields_of(suite.protocols[protocol]),
    }
