"""What an executor is, and which there are: one way to run a job, several places to run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from bell_bench.errors import unknown
from bell_bench.harness.executor import Limits, LocalExecutor, OnEvent
from bell_bench.harness.job import Job
from bell_bench.harness.store import ResultStore


class Executor(Protocol):
    """Runs jobs whose folders are prepared, and tells all that happens to them."""

    store: ResultStore

    def run(self, jobs: Sequence[Job], *, on_event: OnEvent, on_finished: OnEvent) -> None:
        """Run all jobs; each ends in a record. When stopped, jobs that ran are interrupted."""
        ...


EXECUTORS: Mapping[str, Callable[..., Executor]] = {"local": LocalExecutor}


def make_executor(
    name: str, store: ResultStore, limits: Limits, *, workers: int | None = None
) -> Executor:
    """An executor by name; ``workers`` is the most jobs at once."""
    if name not in EXECUTORS:
        raise unknown("executor", name, EXECUTORS)
    return EXECUTORS[name](store, limits, workers)
