"""Evaluate paths ahead of the algorithm: other processes fill the store while it goes on.

The algorithm runs as if it were alone, one path after another, and finds in the store the paths
that these processes have evaluated meanwhile. So neither its choices nor its charges depend on
them.
"""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bell_bench.errors import UsageError
from bell_bench.harness.plan import sequence_of
from bell_bench.modular.path import NEW, ModulePath
from bell_bench.problem import Problem
from bell_bench.records import Job

if TYPE_CHECKING:
    from bell_bench.modular.evaluator import Evaluation, Evaluator
    from bell_bench.modular.library import Library, Module


@dataclass(frozen=True)
class Wanted:
    """A request to another process to evaluate a path."""

    problem: int
    fingerprint: str
    """The fingerprint of the problem; the other process makes the problem itself."""
    path: ModulePath
    modules: tuple[Module, ...]
    """The modules that the path reuses."""


class PendingEvaluation(Protocol):
    """A path that was sent to another process."""

    def done(self) -> bool:
        """Return whether its place is free again."""
        ...

    def fetch(self) -> bool:
        """Wait for the evaluation if it has begun; withdraw it if not.

        Return whether it was computed there, not found in the store. A fault there is not raised:
        it occurs again where the path is asked for, and is raised then.
        """
        ...

    def cancel(self) -> None:
        """End the evaluation, or let it end: nobody will ask for it."""
        ...


class Pool(Protocol):
    """Evaluates paths in other processes; what is fetched from there is in the job's store."""

    def send(self, wanted: Wanted, library: Library) -> PendingEvaluation | None:
        """Send a path to be evaluated; return None if no process is ready yet.

        Raise PoolLost if there will be no process any more.
        """
        ...

    def close(self) -> None:
        """End all evaluations: the job is over."""
        ...


class PoolLost(Exception):
    """No path can be sent any more; the message says why."""


class Prefetch:
    """Keeps ``count`` evaluations running if enough paths are known; one is the job's own."""

    def __init__(self, pool: Pool, count: int) -> None:
        self.pool, self._places = pool, count - 1
        self._offered: dict[tuple[str, ModulePath], Problem] = {}
        self._away: dict[tuple[str, ModulePath], PendingEvaluation] = {}
        self._busy: list[PendingEvaluation] = []
        """All evaluations that may be running, whether or not their result is still wanted."""

    def offer(self, paths: Iterable[ModulePath], problem: Problem) -> None:
        """Add paths that will likely be asked for, in this order."""
        new = ((problem.fingerprint, path) for path in paths)
        self._offered |= {each: problem for each in new if each not in self._away}

    def wait(self, path: ModulePath, problem: Problem, evaluator: Evaluator) -> bool:
        """Wait for a path if another process evaluates it; return whether it was computed there.

        Other paths are sent now, while the job evaluates a path itself or waits. If it must wait,
        the next path is kept back, so that the job has one of its own to evaluate afterwards.
        """
        asked = (problem.fingerprint, path)
        self._offered.pop(asked, None)
        pending = self._away.pop(asked, None)
        try:
            if pending is None:
                self._send(list(self._offered), evaluator)
            elif not pending.done():
                self._send(list(self._offered)[1:], evaluator)
        except PoolLost as error:
            self._places = 0
            warnings.warn(f"--parallel-paths: {error}; going on without", stacklevel=2)
        return pending is not None and pending.fetch()

    def _send(self, offered: list[tuple[str, ModulePath]], evaluator: Evaluator) -> None:
        """Send the paths that the store does not have, as long as places are free."""
        self._busy = [pending for pending in self._busy if not pending.done()]
        for each in offered:
            if len(self._busy) >= self._places:
                return
            problem, (fingerprint, path) = self._offered[each], each
            try:
                known = evaluator.store.get(evaluator.key(path, problem)) is not None
            except UsageError:
                known = True  # the path does not fit this problem: reported if it is asked for
            if not known:
                modules = tuple(evaluator.library[name] for name in path if name != NEW)
                wanted = Wanted(problem.index, fingerprint, path, modules)
                pending = self.pool.send(wanted, evaluator.library)
                if pending is None:
                    return
                self._away[each] = pending
                self._busy.append(pending)
            del self._offered[each]

    def forget(self) -> None:
        """Drop all paths that were not asked for: the problem is solved."""
        for pending in self._away.values():
            pending.cancel()
        self._away.clear()
        self._offered.clear()


class Helper:
    """Evaluates a job's paths in another process, from its sequence and its store."""

    def __init__(self, job: Job, evaluations: pathlib.Path, library: pathlib.Path) -> None:
        import torch

        from bell_bench.modular.evaluations import EvaluationStore
        from bell_bench.modular.evaluator import Evaluator
        from bell_bench.modular.library import Library

        warnings.simplefilter("ignore")  # the job's own process warns
        torch.set_num_threads(job.threads)
        self.sequence = sequence_of(job)
        self.library = Library(library)
        self.evaluator = Evaluator(
            EvaluationStore(evaluations),
            self.library,
            self.sequence.settings,
            seed=job.seed,
            device=job.device,
            protocol=job.protocol,
        )
        self.problem: Problem | None = None

    def evaluate(self, wanted: Wanted) -> Evaluation | None:
        """Return the path's evaluation, or None if the algorithm made the problem itself."""
        if self.problem is None or self.problem.index != wanted.problem:
            self.problem = self.sequence.problem(wanted.problem)
        if self.problem.fingerprint != wanted.fingerprint:
            return None
        self.library.borrow(wanted.modules)
        return self.evaluator.evaluate(wanted.path, self.problem)
