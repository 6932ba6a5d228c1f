"""Path evaluations ahead of the algorithm: processes of the job's own that fill the store.

The algorithm goes on as if it were alone, one path after the other, and finds in the store what
these have evaluated meanwhile; so neither its choices nor its charges depend on them.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import warnings
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from bell_bench.harness.executor import MEMORY_VARIABLE
from bell_bench.harness.plan import sequence_of
from bell_bench.harness.store import JobFolder, ResultStore
from bell_bench.modular.path import Path
from bell_bench.problem import Problem

if TYPE_CHECKING:
    from bell_bench.modular.library import Library

_INDEX = "ahead.json"
"""The library as it was when paths were offered."""


class Ahead:
    """Processes that evaluate the paths they are offered, in that order, ``count`` at once."""

    def __init__(self, folder: JobFolder, count: int) -> None:
        self.folder = folder
        self._pool: ProcessPoolExecutor | None = ProcessPoolExecutor(
            count,
            multiprocessing.get_context("spawn"),
            initializer=_prepare,
            initargs=(folder, count),
        )
        self._offered: dict[tuple[str, Path], Future[bool]] = {}

    def offer(self, paths: Iterable[Path], problem: Problem, library: Library) -> None:
        """Have paths evaluated that will likely be asked for."""
        new = [path for path in paths if (problem.fingerprint, path) not in self._offered]
        if not new or self._pool is None:
            return
        library.save(self.folder.work / _INDEX)
        try:
            for path in new:
                done = self._pool.submit(_evaluate, problem.index, problem.fingerprint, path)
                self._offered[problem.fingerprint, path] = done
        except BrokenProcessPool:
            self._pool = None
            warnings.warn("a process for --parallel-paths died: going on without", stacklevel=2)

    def wait(self, path: Path, problem: Problem) -> bool:
        """Wait for a path if it was offered; whether it was computed, not found, there.

        What goes wrong there goes wrong again where the path is asked for, and is told then.
        """
        done = self._offered.pop((problem.fingerprint, path), None)
        with contextlib.suppress(Exception):
            return done is not None and done.result()
        return False

    def forget(self) -> None:
        """Drop what is not begun; what is, ends in the store and harms nobody."""
        for done in self._offered.values():
            done.cancel()
        self._offered.clear()

    def close(self) -> None:
        """End all: the job is over."""
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.kill()


class _Helper:
    """One such process: the job's sequence, library and store, without its algorithm."""

    def __init__(self, folder: JobFolder) -> None:
        from bell_bench.modular.evaluations import EvaluationStore
        from bell_bench.modular.evaluator import Evaluator
        from bell_bench.modular.library import Library

        job = folder.job()
        self.folder = folder
        self.sequence = sequence_of(job)
        self.library = Library(folder.work / "library")
        self.evaluator = Evaluator(
            EvaluationStore(ResultStore(folder.path.parent).evaluations),
            self.library,
            self.sequence.settings,
            seed=job.seed,
            device=job.device,
            protocol=job.protocol,
        )
        self.problem: Problem | None = None

    def evaluate(self, index: int, fingerprint: str, path: Path) -> bool:
        """Whether the path was computed, rather than found in the store."""
        if self.problem is None or self.problem.index != index:
            self.problem = self.sequence.problem(index)
        if self.problem.fingerprint != fingerprint:
            return False  # the algorithm's own making: not for us
        self.library.load(self.folder.work / _INDEX)
        return not self.evaluator.evaluate(path, self.problem).hit


_helper: _Helper


def _prepare(folder: JobFolder, count: int) -> None:
    import torch

    global _helper
    threading.Thread(target=_end_with_the_job, daemon=True).start()
    warnings.simplefilter("ignore")  # the job's own process tells
    torch.set_num_threads(folder.job().threads)
    if memory := os.environ.get(MEMORY_VARIABLE):
        os.environ[MEMORY_VARIABLE] = str(int(memory) // (count + 1))
    _helper = _Helper(folder)


def _end_with_the_job() -> None:
    if job := multiprocessing.parent_process():
        job.join()
        os._exit(1)


def _evaluate(index: int, fingerprint: str, path: Path) -> bool:
    return _helper.evaluate(index, fingerprint, path)
