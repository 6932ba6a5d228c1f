"""What an executor is, and which there are: one way to run a job, several places to run it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from bell_bench.errors import UsageError, unknown
from bell_bench.harness.executor import JobLimits, LocalExecutor, OnEvent, OnFinished
from bell_bench.records import Job, ResultStore


class Executor(Protocol):
    """Runs jobs whose folders are prepared, and tells all that happens to them."""

    store: ResultStore
    here: bool
    """Whether jobs run on this machine, so that it must have their devices."""

    def at_once(self, jobs: Sequence[Job]) -> int:
        """How many of the jobs certainly begin at the same time, the first ones first."""
        ...

    def open(self) -> AbstractContextManager[object]:
        """Reach where jobs run, before anything is written; ``run`` is called within."""
        ...

    def run(self, jobs: Sequence[Job], *, on_event: OnEvent, on_finished: OnFinished) -> None:
        """Run all jobs; each ends in a record. When stopped, jobs that ran are interrupted."""
        ...


NAMES = ("local", "ray")


def make_executor(
    name: str,
    store: ResultStore,
    limits: JobLimits,
    *,
    workers: int | None = None,
    address: str | None = None,
) -> Executor:
    """An executor by name. ``workers`` is the most jobs at once, ``address`` the Ray cluster's."""
    if name not in NAMES:
        raise unknown("executor", name, NAMES)
    if name == "ray":
        from bell_bench_ray.executor import RayExecutor

        executor: Executor = RayExecutor(store, limits, workers, address)
        return executor
    if address is not None:
        raise UsageError("--ray-address needs --executor ray")
    return LocalExecutor(store, limits, workers)
