"""What an executor is, and which there are: one way to run a job, several places to run it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from bell_bench.errors import UsageError, unknown
from bell_bench.harness.executor import JobLimits, LocalExecutor, OnEvent, OnFinished
from bell_bench.import_strings import load_object
from bell_bench.plugins import registry
from bell_bench.records import Job, ResultStore
from bell_bench.specs import ExecutorSpec


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


LOCAL = "local"


def make_executor(
    name: str,
    store: ResultStore,
    limits: JobLimits,
    *,
    workers: int | None = None,
    address: str | None = None,
) -> Executor:
    """Return the executor of this name, ours or a plugin's. ``workers`` is the most jobs at once,
    ``address`` is where a plugin's executor finds its machines."""
    if name == LOCAL:
        if address is not None:
            raise UsageError(
                "--address needs --executor, one that runs jobs on other machines "
                "(`bell-bench list executors`)"
            )
        return LocalExecutor(store, limits, workers)
    known = registry().every(ExecutorSpec)
    if name not in {each.spec.name for each in known}:
        raise unknown("executor", name, [LOCAL, *(each.spec.name for each in known)])
    make = load_object(registry().named(ExecutorSpec, name).spec.load)
    executor: Executor = make(store, limits, workers=workers, address=address)
    return executor
