"""The class that an author implements (Algorithm), and what every algorithm receives (Context)."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import torch

    from bell_bench.modular.evaluator import Evaluation
    from bell_bench.modular.library import Library
    from bell_bench.modular.path import ModulePath
    from bell_bench.modular.settings import TrainingSettings
    from bell_bench.problem import Inputs, Problem


class Context(Protocol):
    """The services that algorithms share, so that none has to write them again."""

    suite: str
    sequence: str
    """The sequence's name, for algorithms whose published settings depend on it."""
    protocol: Any
    """The suite's protocol preset, a dataclass."""
    settings: TrainingSettings
    seed: int
    device: torch.device
    library: Library
    """The job's own library of frozen modules, empty at first."""

    def evaluate(self, path: ModulePath, problem: Problem) -> Evaluation:
        """TrainAndEvaluate: train the path's new modules and measure the validation accuracy.

        A path is computed once; its recorded cost is charged to this job on every call.
        """
        ...

    def prefetch(self, paths: Iterable[ModulePath], problem: Problem) -> None:
        """Announce which paths ``evaluate`` will likely be asked for next, in this order.

        With ``--parallel-paths`` they are evaluated in parallel; otherwise nothing happens. Only
        the paths that ``evaluate`` is asked for count and are charged.
        """
        ...

    def generator(self, *names: object) -> torch.Generator:
        """Return a random generator that depends on the job's seed and ``names`` alone."""
        ...

    def count(self, function: Callable[[], object]) -> float:
        """Return the FLOPs of one call of ``function``, e.g. a step on throw-away weights."""
        ...

    def charge(self, **amounts: float) -> None:
        """Charge work done outside ``evaluate``: updates, train_flops, inference_flops."""
        ...

    def account(self, what: str, size: int, parameters: int = 0) -> None:
        """Report how many bytes and parameters are now stored under ``what``, outside the library;
        this replaces the last report."""
        ...

    def note(self, **facts: Any) -> None:
        """Record facts, JSON-able, about the problem; ``bell-bench show`` prints them."""
        ...


class Algorithm:
    """A continual-learning algorithm: learns one problem at a time, predicts for any learnt one."""

    stable: ClassVar[bool] = False
    """Whether it promises that learning never changes what earlier problems predict."""

    def __init__(self, context: Context, **options: Any) -> None:
        self.context = context
        self.options = options

    def learn(self, problem: Problem) -> None:
        """Learn the next problem of the sequence."""
        raise NotImplementedError(f"{type(self).__name__} must implement learn(problem)")

    def predict(self, index: int, inputs: Inputs) -> torch.Tensor:
        """Return class scores (n, classes) for inputs of the learnt problem ``index``."""
        raise NotImplementedError(f"{type(self).__name__} must implement predict(index, inputs)")

    def save(self, folder: pathlib.Path) -> None:
        """Write all that ``load`` needs to go on after the last learnt problem."""
        raise NotImplementedError(f"{type(self).__name__} must implement save(folder)")

    def load(self, folder: pathlib.Path) -> None:
        """Restore what ``save`` wrote."""
        raise NotImplementedError(f"{type(self).__name__} must implement load(folder)")

    def solution(self, index: int) -> Sequence[str] | None:
        """Return the chosen path of a learnt problem, one name per layer; None if not modular."""
        return None
