"""One job of an algorithm on a tiny sequence, with the context that real jobs have."""

from __future__ import annotations

import itertools
import pathlib
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from bell_bench.algorithm import Algorithm, Context
from bell_bench.errors import BellBenchError, Unsupported
from bell_bench.harness.context import JobContext
from bell_bench.harness.scores import checked_scores
from bell_bench.problem import Inputs, Problem
from bell_bench.records import Job
from bell_bench_authors.testing.tiny_problems import TinyTask, World, copied, fingerprint

Tell = Callable[[str], None]
"""Called with a description of every call before it is made."""
NO_CALL = ""
"""Announced when no call is made, but something else may take long."""
_numbers = itertools.count(1)
PROMISED = frozenset(
    name for name in (*Context.__annotations__, *vars(Context)) if not name.startswith("_")
)
"""The names that ``bell_bench.algorithm.Context`` promises, and no others."""


def silent(what: str) -> None:
    """Announce a call to nobody."""


class Broken(Exception):
    """The algorithm did what a contract forbids; the message says what."""


class Fault(Broken):
    """A call failed or gave no valid answer, so not every check could be made."""

    def __init__(self, message: str, contract: str) -> None:
        super().__init__(message)
        self.contract = contract
        """The contract that forbids it first."""


class NotApplicable(Exception):
    """The contract says nothing about this algorithm; the message says why."""


@dataclass(frozen=True)
class Subject:
    """The algorithm that is checked."""

    name: str
    kind: type[Algorithm]
    options: Mapping[str, Any]
    """All options, with their defaults."""
    member: Callable[..., Algorithm] | None = None
    """What makes it if it is one of a family: the class with the member's arguments."""
    address: str | None = None
    """How another process finds it: by a registered name, a file and class, or an import string."""

    @property
    def package(self) -> str:
        return self.kind.__module__.partition(".")[0]


class PromisedContext:
    """A job's context, reduced to the names that are promised."""

    def __init__(self, context: JobContext) -> None:
        object.__setattr__(self, "_context", context)
        object.__setattr__(self, "_refused", [])

    def __getattr__(self, name: str) -> Any:
        if name not in PROMISED:
            told = (
                f"context.{name} is not promised to algorithms (bell_bench.algorithm.Context has "
                f"{', '.join(sorted(PROMISED))})"
            )
            if not name.startswith("__"):  # Python and libraries look these up on any object
                object.__getattribute__(self, "_refused").append(told)
            raise AttributeError(told, name=name, obj=self)
        return getattr(object.__getattribute__(self, "_context"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an algorithm cannot set context.{name}")


@dataclass
class Trial:
    """A job of the subject, call by call. Each call gets arrays of its own; an exception becomes a
    ``Fault`` that says where it was raised."""

    subject: Subject
    world: World
    runs: pathlib.Path
    """The folder of runs."""
    seed: int = 0
    device: str = "cpu"
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = field(default_factory=lambda: f"job-{next(_numbers)}")
    tell: Tell = silent

    def __post_init__(self) -> None:
        job = Job(
            algorithm=self.subject.name, load="", provider="", suite=self.world.suite,
            suite_version="", sequence=self.world.sequence, realisation=0, realisation_seed=0,
            seed=self.seed, scale="", data="", protocol=self.world.protocol_name,
            device=self.device,
        )  # fmt: skip
        self.tasks: list[TinyTask] = []
        self.changed: list[str] = []
        """The calls that changed their arguments."""
        self.job_context = JobContext(
            job,
            self.world.protocol,
            self.world.settings,
            work=self.work,
            evaluations=self.runs / "evaluations",
            tell=lambda event, **facts: None,
        )
        given = {**self.subject.options, **self.options}
        self.handed = PromisedContext(self.job_context)
        self.algorithm: Algorithm = self._call(
            "the constructor",
            lambda: (self.subject.member or self.subject.kind)(self.handed, **given),
        )

    @property
    def refused(self) -> list[str]:
        """Names that were asked of the context although it does not promise them."""
        found: list[str] = object.__getattribute__(self.handed, "_refused")
        return found

    @property
    def folder(self) -> pathlib.Path:
        return self.runs / self.name

    @property
    def work(self) -> pathlib.Path:
        return self.folder / "work"

    def learn(self, task: TinyTask) -> None:
        known = task.problem
        problem = replace(known, train=copied(known.train), validation=copied(known.validation))
        self._call(f"learn({_told(problem)})", lambda: self.algorithm.learn(problem))
        if _seen(problem) != _seen(known):
            self.changed.append(f"learn changed the images, rows or labels of {known.name}")
        self.tasks.append(task)

    def ask(self, index: int, inputs: Inputs) -> Any:
        """Return what the algorithm predicts, unchecked."""
        given, what = copied(inputs), f"predict({index}, inputs)"
        answer = self._call(what, lambda: self.algorithm.predict(index, given))
        if fingerprint(given) != fingerprint(inputs):
            self.changed.append(f"{what} changed its inputs")
        return answer

    def predict(self, index: int, inputs: Inputs | None = None) -> Tensor:
        """Return checked scores for a learnt problem, by default of its test inputs."""
        task = next(task for task in self.tasks if task.problem.index == index)
        given = task.test.inputs if inputs is None else inputs
        scores, shape = self.ask(index, given), (len(given), task.problem.classes)
        try:
            return checked_scores(scores, index, shape)
        except BellBenchError as error:
            raise Fault(str(error), "scores") from None

    def predict_all(self) -> list[Tensor]:
        return [self.predict(task.problem.index) for task in self.tasks]

    def save(self, name: str = "checkpoint") -> pathlib.Path:
        folder = self.folder / name
        folder.mkdir(parents=True)
        self._call("save(folder)", lambda: self.algorithm.save(folder), "resumes")
        return folder

    def load(self, folder: pathlib.Path, learnt: Sequence[TinyTask]) -> None:
        self._call("load(folder)", lambda: self.algorithm.load(folder), "resumes")
        self.tasks = list(learnt)

    def _call(self, what: str, function: Any, contract: str = "learns") -> Any:
        self.tell(what)
        try:
            with warnings.catch_warnings(record=True):  # whatever filters the code sets
                return function()
        except Unsupported as error:
            raise NotApplicable(f"{what} says that this is not supported: {error}") from error
        except NotImplementedError as error:
            raise Fault(f"{what}: {error or 'not implemented'}", contract) from error
        except Exception as error:
            place = _place(error, self.subject.package)
            raise Fault(
                f"{what} raised {type(error).__name__}: {error}{place}",
                "nothing-else" if _asks_for_more(error) else contract,
            ) from error


def _told(problem: Problem) -> str:
    return f"problem {problem.index + 1}: {problem.name}"


def _seen(problem: Problem) -> str:
    return fingerprint(problem.train, problem.validation)


def _asks_for_more(error: Exception) -> bool:
    """Return whether an unpromised name of the context, or inputs' labels, were asked for."""
    if not isinstance(error, AttributeError):
        return False
    labels = isinstance(error.obj, Inputs) and error.name == "labels"
    return labels or isinstance(error.obj, PromisedContext)


def _place(error: Exception, package: str) -> str:
    """Return the place of the error: the deepest line in the author's package, or else at all."""
    frames = [
        (frame.f_globals.get("__name__", ""), f" (at {frame.f_code.co_filename}:{line})")
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    called = [(module, place) for module, place in frames if module != __name__]
    own = [place for module, place in called if module.partition(".")[0] == package]
    return [*(place for _, place in called), *own][-1] if called else ""
