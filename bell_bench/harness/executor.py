"""Local processes, one per job: started fresh, watched from outside, ended when over a limit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import psutil

from bell_bench.files import write_json
from bell_bench.harness.events import EventReader
from bell_bench.harness.job import Job
from bell_bench.harness.state import Checkpoints, make_record
from bell_bench.harness.store import JobFolder, ResultStore
from bell_bench.units import format_size

TICK = 0.1
LOG_LIMIT = 256 * 1024**2
MEMORY_VARIABLE = "BELL_BENCH_JOB_MEMORY"
"""What a job may use, in bytes; its caches keep to a part of it (bell_bench.modular.prefix)."""
INTERRUPTED = ("interrupted", "the same command goes on from here")
"""Status and reason of a job that was stopped with the run."""
OnEvent: TypeAlias = Callable[[Job, dict[str, Any]], None]
"""Told of a job: an event, or its record when it has finished."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                    "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What one job may use; None for no limit."""

    seconds: float | None = None
    memory_bytes: int | None = None

    def shared_by(self, workers: int) -> Limits:
        """With a memory limit in any case: the one asked for, or a share of the machine's."""
        share = int(0.9 * psutil.virtual_memory().total / workers)
        return replace(self, memory_bytes=self.memory_bytes or share)


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_environment(threads: int = 1, limits: Limits | None = None) -> dict[str, str]:
    """The environment of a job's process: its threads, its share of memory, no path but ours."""
    memory = limits.memory_bytes if limits else None
    return {
        **os.environ,
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        **({MEMORY_VARIABLE: str(memory)} if memory else {}),
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }


@dataclass
class Running:
    """A job's process as the parent sees it."""

    job: Job
    folder: JobFolder
    process: subprocess.Popen[bytes]
    events: EventReader
    started: float = field(default_factory=time.monotonic)
    measured: float = 0.0
    ended: tuple[str, str] | None = None
    """Status and reason, as told by the worker or decided by the parent."""

    @staticmethod
    def start(job: Job, folder: JobFolder, limits: Limits) -> Running:
        events = EventReader(folder.events_file)
        with folder.log_file.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "bell_bench.harness.worker", str(folder.path.resolve())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=worker_environment(job.threads, limits),
                start_new_session=True,
            )
        return Running(job, folder, process, events)

    def tree(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.process.pid)
            return [process, *process.children(recursive=True)]
        return []

    def memory(self) -> int:
        total = 0
        for process in self.tree():
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
        return total

    def over(self, limits: Limits) -> tuple[str, str] | None:
        """Status and reason if a limit is passed. Memory is looked at twice a second."""
        now = time.monotonic()
        if limits.seconds is not None and now - self.started > limits.seconds:
            return "timeout", f"over the limit of {limits.seconds:g} s (--timeout)"
        if now - self.measured < 0.5:
            return None
        self.measured = now
        if limits.memory_bytes is not None and self.memory() > limits.memory_bytes:
            return (
                "out-of-memory",
                f"over the limit of {format_size(limits.memory_bytes)} (--memory)",
            )
        if self.folder.log_file.exists() and self.folder.log_file.stat().st_size > LOG_LIMIT:
            return "failed", f"its log grew over {LOG_LIMIT // 1024**2} MiB"
        return None

    def step(self, limits: Limits, on_event: OnEvent) -> bool:
        """Look after the process; True if it has ended."""
        over = bool(self.process.poll() is not None)
        for event in self.events:
            if event.get("process") != self.process.pid:
                continue  # of another run on this store
            if event["event"] == "started":
                self.started = time.monotonic()
            if event["event"] == "ended":
                self.ended = (event["status"], event["reason"])
            on_event(self.job, event)
        if not over and (limit := self.over(limits)):
            self.kill(*limit)
            over = True
        return over

    def kill(self, status: str, reason: str) -> None:
        """End the process and all it started. What it stored is whole: files are renamed in."""
        self.ended = (status, reason)
        tree = self.tree()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for process in tree:
            with contextlib.suppress(psutil.Error):
                process.kill()
        self.process.wait()

    def close(self) -> dict[str, Any]:
        """The job's record; made here if the worker could not."""
        return settle(self.job, self.folder, *(self.ended or ("failed", self._death())))

    def _death(self) -> str:
        code = self.process.returncode
        if code < 0:
            name = signal.Signals(-code).name
            hint = " (out of memory, or killed by someone)" if name == "SIGKILL" else ""
            return f"the process was ended by {name}{hint}"
        return f"the process ended with exit code {code} and no result"


def settle(job: Job, folder: JobFolder, status: str, reason: str) -> dict[str, Any]:
    """The record of a job that has ended; if it could not write one, what it had solved so far."""
    record = folder.record()
    if record is None:
        state = Checkpoints(folder.work / "checkpoints").load()
        record = make_record(job, status, reason, state)
        write_json(folder.record_file, record)
    return record


class LocalExecutor:
    """Runs jobs on this machine, ``workers`` at a time: by default as many as its cores hold."""

    def __init__(self, store: ResultStore, limits: Limits, workers: int | None = None) -> None:
        self.store, self.limits, self.workers = store, limits, workers

    def run(self, jobs: Sequence[Job], *, on_event: OnEvent, on_finished: OnEvent) -> None:
        threads = max((job.threads for job in jobs), default=1)
        workers = min(self.workers or max(1, cores() // threads), max(1, len(jobs)))
        limits = self.limits.shared_by(workers)
        waiting, running = deque(jobs), list[Running]()
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    job = waiting.popleft()
                    running.append(Running.start(job, self.store.folder_of(job), limits))
                for each in list(running):
                    if each.step(limits, on_event):
                        running.remove(each)
                        on_finished(each.job, each.close())
                time.sleep(TICK)
        except BaseException:
            for each in running:
                each.kill(*INTERRUPTED)
                on_finished(each.job, each.close())
            raise
