"""What an executor is, and which there are: a job runs the same way in several places."""

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
    """Runs jobs whose folders are prepared, and reports all that happens to them."""

    store: ResultStore
    here: bool
    """Whether jobs run on this machine, which then needs their devices."""

    def at_once(self, jobs: Sequence[Job]) -> int:
        """Return how many jobs, from the first on, certainly start at the same time."""
        ...

    def open(self) -> AbstractContextManager[object]:
        """Connect to where jobs run, before anything is written; ``run`` is called within."""
        ...

    def run(self, jobs: Sequence[Job], *, on_event: OnEvent, on_finished: OnFinished) -> None:
        """Run all jobs; each ends in a record. If stopped, running jobs become interrupted."""
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
    """Return the executor of this name, ours or a plugin's. ``workers`` is the largest number of
    jobs at once; at ``address`` a plugin's executor finds its machines."""
    if name == LOCAL:
        if address is not None:
            raise UsageError(
                "--address needs an --executor that runs jobs on other machines "
                "(`bell-bench list executors`)"
            )
        return LocalExecutor(store, limits, workers)
    known = registry().every(ExecutorSpec)
    if name not in {each.spec.name for each in known}:
        raise unknown("executor", name, [LOCAL, *(each.spec.name for each in known)])
    make = load_object(registry().named(ExecutorSpec, name).spec.load)
    executor: Executor = make(store, limits, workers=workers, address=address)
    return executor
