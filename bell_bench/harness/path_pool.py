"""Evaluate a job's paths in processes of its own, on its machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bell_bench.harness.executor import MEMORY_VARIABLE
from bell_bench.harness.prefetch import Helper, PendingEvaluation, PoolLost, Wanted
from bell_bench.records import JobFolder, ResultStore

if TYPE_CHECKING:
    from bell_bench.modular.library import Library


class LocalPool:
    """Processes that belong to the job, on its machine, with its library and its store."""

    def __init__(self, folder: JobFolder, processes: int) -> None:
        self._processes = processes
        self._starting: list[Future[bool]] = []
        self._pool = ProcessPoolExecutor(
            processes,
            multiprocessing.get_context("spawn"),
            initializer=_prepare,
            initargs=(folder, processes + 1),
        )

    def send(self, wanted: Wanted, library: Library) -> PendingEvaluation | None:
        try:
            if not self._starting:
                self._starting = [self._pool.submit(bool) for _ in range(self._processes)]
            if not all(each.done() for each in self._starting):
                return None
            return _LocalEvaluation(self._pool.submit(_evaluate, wanted))
        except BrokenProcessPool:
            raise PoolLost("one of its processes died") from None

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.kill()


@dataclass(frozen=True)
class _LocalEvaluation:
    future: Future[bool]

    def done(self) -> bool:
        return self.future.done()

    def fetch(self) -> bool:
        with contextlib.suppress(Exception):
            return not self.future.cancel() and self.future.result()
        return False

    def cancel(self) -> None:
        self.future.cancel()  # one that has begun ends in the store, which does no harm


_helper: Helper


def _prepare(folder: JobFolder, processes: int) -> None:
    global _helper
    threading.Thread(target=_end_with_the_job, daemon=True).start()
    if memory := os.environ.get(MEMORY_VARIABLE):
        os.environ[MEMORY_VARIABLE] = str(int(memory) // processes)
    evaluations = ResultStore(folder.path.parent).evaluations
    _helper = Helper(folder.job(), evaluations, folder.work / "library")


def _end_with_the_job() -> None:
    if job := multiprocessing.parent_process():
        job.join()
        os._exit(1)


def _evaluate(wanted: Wanted) -> bool:
    """Evaluate a path; return whether it was computed, not found in the store."""
    evaluation = _helper.evaluate(wanted)
    return evaluation is not None and not evaluation.hit
