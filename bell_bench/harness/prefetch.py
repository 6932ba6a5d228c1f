"""Path evaluations ahead of the algorithm: other processes fill the store while it goes on.

The algorithm goes on as if it were alone, one path after the other, and finds in the store what
these have evaluated meanwhile; so neither its choices nor its charges depend on them.
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
    """A path as another process is asked for it."""

    problem: int
    fingerprint: str
    """Of the problem, which that process makes itself."""
    path: ModulePath
    modules: tuple[Module, ...]
    """Those that the path reuses."""


class PendingEvaluation(Protocol):
    """A path that was sent away."""

    def done(self) -> bool:
        """Whether it needs its place no more."""
        ...

    def fetch(self) -> bool:
        """Wait for it if it has begun, take it back if not.

        Whether it was computed there, rather than found. What goes wrong there goes wrong again
        where the path is asked for, and is told then.
        """
        ...

    def cancel(self) -> None:
        """Nobody will ask for it: end it, or let it end."""
        ...


class Pool(Protocol):
    """Evaluates paths elsewhere; what is fetched from there is in the job's store."""

    def send(self, wanted: Wanted, library: Library) -> PendingEvaluation | None:
        """Have a path evaluated; None if nobody is there to do so yet.

        Raises PoolLost if nobody will be any more.
        """
        ...

    def close(self) -> None:
        """End all that is under way: the job is over."""
        ...


class PoolLost(Exception):
    """No path can be sent away any more, and why."""


class Prefetch:
    """Keeps ``count`` evaluations going where so many paths are known; one is the job's own."""

    def __init__(self, pool: Pool, count: int) -> None:
        self.pool, self._places = pool, count - 1
        self._offered: dict[tuple[str, ModulePath], Problem] = {}
        self._away: dict[tuple[str, ModulePath], PendingEvaluation] = {}
        self._busy: list[PendingEvaluation] = []
        """All that may be under way, whether or not anybody still asks for it."""

    def offer(self, paths: Iterable[ModulePath], problem: Problem) -> None:
        """Name paths that will likely be asked for, in this order."""
        new = ((problem.fingerprint, path) for path in paths)
        self._offered |= {each: problem for each in new if each not in self._away}

    def wait(self, path: ModulePath, problem: Problem, evaluator: Evaluator) -> bool:
        """Wait for a path if another process is at it; whether it was computed there.

        This is when others are sent away: now the job evaluates a path itself, or waits. Before it
        waits, the next one is kept back, so that the job has its own to do after it.
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
        """Send away what the store does not have, as far as there are places."""
        self._busy = [pending for pending in self._busy if not pending.done()]
        for each in offered:
            if len(self._busy) >= self._places:
                return
            problem, (fingerprint, path) = self._offered[each], each
            try:
                known = evaluator.store.get(evaluator.key(path, problem)) is not None
            except UsageError:
                known = True  # no path for this problem: told if it is asked for
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
        """The problem is solved: drop what was not asked for."""
        for pending in self._away.values():
            pending.cancel()
        self._away.clear()
        self._offered.clear()


class Helper:
    """What evaluates a job's paths in another process: its sequence and a store, no algorithm."""

    def __init__(self, job: Job, evaluations: pathlib.Path, library: pathlib.Path) -> None:
        import torch

        from bell_bench.modular.evaluations import EvaluationStore
        from bell_bench.modular.evaluator import Evaluator
        from bell_bench.modular.library import Library

        warnings.simplefilter("ignore")  # the job's own process tells
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
        """The path's evaluation; None if the problem is of the algorithm's own making."""
        if self.problem is None or self.problem.index != wanted.problem:
            self.problem = self.sequence.problem(wanted.problem)
        if self.problem.fingerprint != wanted.fingerprint:
            return None
        self.library.borrow(wanted.modules)
        return self.evaluator.evaluate(wanted.path, self.problem)
