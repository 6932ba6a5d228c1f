"""Many jobs in one run: the parent stays small and tells how far it is. At full size:
``benchmarks/soak.py``."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from statistics import median

import psutil
import pytest

from bell_bench.harness.plan import Plan
from bell_bench.harness.run import run_plan
from bell_bench.records import Job
from tests.faults.soak import watch
from tests.leaderboard.making import record

JOBS = 120
LIVE = 2e3
"""Bytes per job by which Python's objects may grow: 2,000 jobs take 4 MB at most. They grow by some
160; with every record kept it were 60,000."""
GROWTH = 4e6
"""Bytes that the whole parent may grow from a quarter of the run on, above what allocators come and
go by. What grows outside Python's objects is seen from some 60,000 bytes per job on."""


@pytest.mark.slow
def test_the_parent_stays_small_and_its_progress_usable(tmp_path):
    log = tmp_path / "progress.txt"
    root = pathlib.Path(__file__).parents[2]
    with log.open("wb") as stderr:
        process = psutil.Popen(
            [sys.executable, "-m", "tests.faults.soak", str(tmp_path), str(JOBS)],
            env={**os.environ, "PYTHONPATH": str(root), "PYTHONTRACEMALLOC": "1"},
            stdout=subprocess.PIPE, stderr=stderr,
        )  # fmt: skip
        samples = watch(process, log)
    told = process.stdout.read().decode()
    assert process.wait() == 0, log.read_text()
    assert f"{JOBS} rows in" in told
    running = [each for each in samples if each.finished < JOBS]
    early = [each.bytes for each in running if each.finished <= JOBS / 4]
    late = [each.bytes for each in running if each.finished >= JOBS * 3 / 4]
    assert early
    assert late
    assert max(late) - max(early) < GROWTH
    live = json.loads((tmp_path / "live.json").read_text())
    grown = median(live[JOBS * 3 // 4 :]) - median(live[JOBS // 4 : JOBS // 2])
    assert grown / (JOBS / 2) < LIVE
    lines = log.read_text().splitlines()
    assert lines[0].endswith(f"{JOBS} jobs to run")
    finished = [line for line in lines if f"/{JOBS} jobs" in line]
    assert len(finished) == JOBS
    assert all("left]" in line for line in finished[:-1])


def test_what_a_run_does_per_job_does_not_grow_with_their_number(monkeypatch):
    """Comparing every job with every other was 4 million comparisons for 2,000 jobs."""
    jobs = [Job(load="x:X", **record(realisation=number)["job"]) for number in range(300)]
    compared = []
    monkeypatch.setattr(Job, "__eq__", lambda self, other: compared.append(1) or self is other)
    store = FinishedStore()
    run_plan(Plan(tuple(jobs)), IdleExecutor(store), quiet=True)
    assert store.asked == len(jobs)
    assert not compared


class FinishedStore:
    """Every job is done."""

    asked = 0

    def finished(self, job: Job) -> bool:
        self.asked += 1
        return True


class IdleExecutor:
    """There is nothing to do."""

    def __init__(self, store: FinishedStore) -> None:
        self.store = store

    def run(self, jobs: list[Job], **tellers: object) -> None:
        assert not jobs
