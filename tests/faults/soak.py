"""A run of many tiny jobs, and how large its parent is while they run.

``python -m tests.faults.soak FOLDER JOBS`` runs the real parent (store, executor, progress,
leaderboard) with light workers, as real ones would spend minutes of every hundred jobs on importing
torch. Everything is written below FOLDER; with PYTHONTRACEMALLOC=1 also ``live.json``: how many
bytes Python's objects took after each job.
"""

from __future__ import annotations

import contextlib
import gc
import json
import pathlib
import re
import sys
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass

import psutil
from msgspec import structs

from bell_bench import forkserver
from bell_bench.files import write_arrays
from bell_bench.harness import executor
from bell_bench.harness.plan import Plan
from bell_bench.harness.run import run_plan
from bell_bench.records import Job, Record, ResultStore, read_records
from bell_bench_leaderboard import result_rows, summary_table
from tests.faults.light_worker import PROBLEMS
from tests.leaderboard.making import predictions, record

ALGORITHMS = ("sa", "picle", "rs", "houdini")
_FINISHED = re.compile(rb"\[(\d+)/\d+ jobs")


@dataclass(frozen=True)
class Sample:
    """The parent at one moment."""

    finished: int
    bytes: int


def watch(process: psutil.Popen, progress: pathlib.Path, every: float = 0.2) -> list[Sample]:
    """How many jobs are finished, as the progress says, and how large the parent is, until it
    ends."""
    samples = []
    while process.poll() is None:
        finished = _FINISHED.findall(progress.read_bytes())
        with contextlib.suppress(psutil.Error):
            size = process.memory_info().rss
            samples.append(Sample(int(finished[-1]) if finished else 0, size))
        time.sleep(every)
    return samples


class TracedExecutor(executor.LocalExecutor):
    """Notes after each job how many bytes are in use, without those that wait to be collected."""

    def run(
        self, jobs: Sequence[Job], *, on_event: executor.OnEvent, on_finished: executor.OnFinished
    ) -> None:
        live = []

        def finished(job: Job, record: Record) -> None:
            on_finished(job, record)
            gc.collect()
            live.append(tracemalloc.get_traced_memory()[0])

        super().run(jobs, on_event=on_event, on_finished=finished)
        (self.store.folder / "live.json").write_text(json.dumps(live))


def run_light(folder: pathlib.Path, count: int) -> None:
    """So many jobs, of four algorithms in turn on realisations of their own; prints the table."""
    content = record(learnt=(0.5,) * PROBLEMS)
    for problem in content["problems"]:
        problem["notes"] = [{"evaluated": ["x" * 100] * 50}]
    (folder / "template.json").write_text(json.dumps(content))
    write_arrays(folder / "template.npz", predictions(content))
    first = Job(load="x:X", **content["job"])
    jobs = [
        structs.replace(first, algorithm=ALGORITHMS[number % 4], realisation=number // 4,
                        realisation_seed=number // 4)
        for number in range(count)
    ]  # fmt: skip
    executor.WORKER = forkserver.LOADED = "tests.faults.light_worker"
    store = ResultStore(folder)
    limits = executor.JobLimits(memory_bytes=10**9)
    kind = TracedExecutor if tracemalloc.is_tracing() else executor.LocalExecutor
    run_plan(Plan(tuple(jobs)), kind(store, limits, 2))
    print("reading", flush=True)
    began = time.process_time()
    rows = result_rows(read_records(store.folder_of(job).path for job in jobs))
    print(summary_table(rows))
    print(f"{sum(row['status'] == 'done' for row in rows)} rows in "
          f"{time.process_time() - began:.1f} s of CPU")  # fmt: skip


if __name__ == "__main__":
    run_light(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
