"""The record of a job that has ended: one type, which defines a sound record."""

from __future__ import annotations

import math
import reprlib
from typing import Annotated, Any, TypeVar

import msgspec

from bell_bench.files import parse_json
from bell_bench.records.job import Job, Number
from bell_bench.records.structs import JsonStruct, without_none

RECORD_SCHEMA = 1
"""The version of a record's form; a record of another version is not read."""
LONG = 20
"""A sequence of more problems is long: ``evaluate`` runs it only when asked, it has no accuracy
matrix, averages omit it, and the growth of its costs is reported."""
MOST_PROBLEMS = 1000
DONE = "done"
STATUSES = (DONE, "unsupported", "failed", "timeout", "out-of-memory")
"""The ways a job may end; a job that was interrupted has not ended."""

R = TypeVar("R", bound="Record")
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e30)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)] | Amount
"""A whole number; but a plugin may charge parts of one."""


class Resources(JsonStruct, frozen=True, kw_only=True):
    """The cost of one problem."""

    paths_evaluated: Count
    """How many paths were asked for."""
    paths_trained: Count
    """How many of these had something to train."""
    paths_computed: Count = 0
    """How many of these this job computed itself: they were not in the evaluation store."""
    updates: Count
    train_flops: Amount
    inference_flops: Amount = 0.0
    """FLOPs of validation, statistics and neighbours."""
    seconds: float = 0.0
    """Seconds of path evaluations, recorded when first computed; likewise ``cpu_seconds``."""
    cpu_seconds: float = 0.0
    spent_seconds: float = 0.0
    """Seconds that asking for path evaluations really took; likewise ``spent_cpu_seconds``."""
    spent_cpu_seconds: float = 0.0
    wall_s: Amount
    """Seconds of learning, with path evaluations at their recorded cost; likewise ``cpu_s``."""
    cpu_s: Amount
    peak_memory_bytes: Count
    stored_bytes: Count
    """What the algorithm keeps after this problem."""
    parameters: Count = 0
    flop_coverage: Share | None = None
    """The share of executed operators whose FLOPs could be counted."""
    uncounted_operators: list[str] = msgspec.field(default_factory=list)

    @property
    def all_flops(self) -> float:
        """The FLOPs of training and of everything else."""
        return float(self.train_flops + self.inference_flops)


class SolvedProblem(JsonStruct, frozen=True, kw_only=True):
    """One problem that a job has learnt."""

    index: Annotated[int, msgspec.Meta(ge=0, le=MOST_PROBLEMS)] = 0
    name: str = ""
    classes: Annotated[int, msgspec.Meta(ge=1, le=10**6)] = 2
    fingerprint: str
    """A hash of its training and validation images and labels."""
    test_fingerprint: str
    path: list[str] | None = None
    """The modules of its solution, if the algorithm is modular."""
    resources: Resources
    notes: list[dict[str, Any]] = msgspec.field(default_factory=list)
    """What the algorithm noted, for people to read."""
    accuracy_learnt: Share | None = None
    """Accuracy on the test set, right after the problem was learnt."""
    accuracy_final: Share | None = None
    """Accuracy on the test set, after the whole sequence."""

    def to_json(self) -> dict[str, Any]:
        return without_none(msgspec.to_builtins(self), "accuracy_learnt", "accuracy_final")


class Environment(JsonStruct, frozen=True, kw_only=True):
    """The versions and the machine that a result was made with."""

    python: str = ""
    packages: dict[str, str | None] = msgspec.field(default_factory=dict)
    platform: str = ""
    cpu: str = ""
    cores: int | None = None
    code: dict[str, Any] | None = None
    """The commit of the checkout, and whether it was changed."""


class Record(JsonStruct, frozen=True, kw_only=True):
    """All that a job which has ended leaves behind."""

    schema: int = RECORD_SCHEMA
    status: str
    reason: str = ""
    job: Job
    problems: Annotated[list[SolvedProblem], msgspec.Meta(max_length=MOST_PROBLEMS)]
    matrix: list[list[Share]] = msgspec.field(default_factory=list)
    """Row t: accuracy on problems 0..t after learning t; empty for long sequences."""
    resumed: list[Number] = msgspec.field(default_factory=list)
    """How many problems were solved at each resume."""
    environment: Environment = msgspec.field(default_factory=Environment)
    predictions_sha256: str | None = None
    settings: dict[str, Any] | None = None
    """The settings of training, scale and protocol."""
    metrics: dict[str, float] | None = None
    """The scores computed from the job's own accuracies."""

    def __post_init__(self) -> None:
        if self.schema != RECORD_SCHEMA:
            raise ValueError(_other_schema(self.schema))
        for name, value in (self.metrics or {}).items():
            if not math.isfinite(value):
                raise ValueError(f"metrics.{name} is {value}, not a finite number")
        if self.done:
            self._check_scores()

    def _check_scores(self) -> None:
        """Raise ValueError if a job that is done lacks what its scores are made of."""
        if not self.problems:
            raise ValueError("problems is empty, and yet status is done")
        if self.matrix and len(self.matrix) != len(self.problems):
            raise ValueError(f"matrix has {len(self.matrix)} rows, not {len(self.problems)}")
        for number, row in enumerate(self.matrix):
            if len(row) != number + 1:
                raise ValueError(f"matrix[{number}] has {len(row)} entries, not {number + 1}")
        for number, each in enumerate(self.problems):
            for name in ("accuracy_learnt", "accuracy_final"):
                if getattr(each, name) is None:
                    raise ValueError(
                        f"problems[{number}].{name} is missing, and yet status is done"
                    )

    @property
    def done(self) -> bool:
        return self.status == DONE

    @property
    def learnt(self) -> list[float]:
        """The test accuracy of each problem right after it was learnt."""
        return [each.accuracy_learnt or 0.0 for each in self.problems]

    @property
    def final(self) -> list[float]:
        """The test accuracy of each problem at the end."""
        return [each.accuracy_final or 0.0 for each in self.problems]

    @classmethod
    def from_json(cls: type[R], content: Any) -> R:
        """Return the record. One of another schema is told by that, whatever else it has."""
        if isinstance(content, dict) and content.get("schema", RECORD_SCHEMA) != RECORD_SCHEMA:
            raise ValueError(_other_schema(content["schema"]))
        return super().from_json(content)

    def to_json(self) -> dict[str, Any]:
        content: dict[str, Any] = msgspec.to_builtins(self)
        content["job"] = self.job.to_json()
        content["problems"] = [each.to_json() for each in self.problems]
        return without_none(content, "predictions_sha256", "settings", "metrics")


def _other_schema(schema: object) -> str:
    return f"schema is {reprlib.repr(schema)}, not {RECORD_SCHEMA}"


def parse_record(content: bytes) -> Record:
    """Return the record in a file's content; raise ValueError if it is damaged or not a record."""
    return Record.from_json(parse_json(content))
