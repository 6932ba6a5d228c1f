"""Run a plan: keep what is done, run the rest, and end every job in a record."""

from __future__ import annotations

import contextlib
from typing import Any

from bell_bench.harness.executors import Executor
from bell_bench.harness.plan import Plan, sequence_of
from bell_bench.harness.progress import make_progress
from bell_bench.harness.state import make_record
from bell_bench.plugins import registry
from bell_bench.records import Job, Record


def run_plan(plan: Plan, executor: Executor, *, fresh: bool = False, quiet: bool = False) -> None:
    """Run the jobs that are not done yet; a failed job is tried again from where it failed."""
    observers, store = registry(), executor.store
    waiting = [job for job in plan.jobs if fresh or not store.finished(job)]
    kept = len(plan.jobs) - len(waiting)
    able = [job for job in waiting if job.name not in plan.unsupported]
    with contextlib.ExitStack() as stack:
        if able:
            stack.enter_context(executor.open())
        for job in waiting:
            folder = store.prepare(job, fresh=fresh)
            if job.name in plan.unsupported:
                reason = plan.unsupported[job.name]
                folder.write(make_record(job, "unsupported", reason, None))
        observers.notify("bell_bench_run_started", run={"jobs": list(plan.jobs)})
        to_solve = {job.name: len(sequence_of(job)) for job in able}
        progress = stack.enter_context(make_progress(able, kept, to_solve, quiet))

        def on_event(job: Job, event: dict[str, Any]) -> None:
            progress.event(job, event)
            if event["event"] == "solved":
                observers.notify("bell_bench_problem_solved", job=job, problem=event)

        def on_finished(job: Job, record: Record) -> None:
            progress.end(job, record)
            observers.notify("bell_bench_job_finished", job=job, record=record)

        executor.run(able, on_event=on_event, on_finished=on_finished)
