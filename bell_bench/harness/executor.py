"""Local processes, one per job: watched from outside, ended when over a limit."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import filelock
import psutil

from bell_bench import cpu_determinism, forkserver
from bell_bench.errors import BellBenchError
from bell_bench.harness.events import EventReader
from bell_bench.harness.ranges import check_number, check_positive
from bell_bench.harness.state import Checkpoints, make_record
from bell_bench.import_check import ending
from bell_bench.plugins import told_of_plugins
from bell_bench.records import Job, JobFolder, Record, ResultStore
from bell_bench.units import format_size

WORKER = "bell_bench.harness.worker"
"""The module that does a job: its ``start`` takes the folder and the paths at once."""
TICK = 0.1
LOG_LIMIT = 256 * 1024**2
MEMORY_VARIABLE = "BELL_BENCH_JOB_MEMORY"
"""What a job may use, in bytes; its caches keep to a part of it (bell_bench.modular.prefix)."""
POOL_VARIABLE = "BELL_BENCH_PATH_POOL"
"""Where a job evaluates paths in parallel, if not on its own machine: an import string of a
function from its ``EvaluationStore`` to a pool like ``bell_bench.harness.path_pool.LocalPool``."""
INTERRUPTED = ("interrupted", "the same command goes on from here")
"""Status and reason of a job that was stopped with the run."""
OnEvent: TypeAlias = Callable[[Job, dict[str, Any]], None]
"""Told of each event of a job."""
OnFinished: TypeAlias = Callable[[Job, Record], None]
"""Told of a job's record when it has ended."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                    "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")  # fmt: skip


@dataclass(frozen=True)
class JobLimits:
    """What one job may use; None for no limit."""

    seconds: float | None = None
    memory_bytes: int | None = None
    paths: int = 1
    """Path evaluations at once, each in a process of its own if there are several."""

    def __post_init__(self) -> None:
        for what, limit in (("--timeout", self.seconds), ("--memory", self.memory_bytes)):
            if limit is not None:
                check_positive(what, limit)
        check_number("--parallel-paths", self.paths, 1)

    def shared_by(self, workers: int) -> JobLimits:
        """With a memory limit in any case: the one asked for, or a share of the machine's."""
        share = int(0.9 * psutil.virtual_memory().total / workers)
        return replace(self, memory_bytes=self.memory_bytes or share)


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_environment(threads: int = 1, limits: JobLimits | None = None) -> dict[str, str]:
    """The environment of a job's process: its threads, its kernels, its share of memory."""
    memory = limits.memory_bytes if limits else None
    return {
        **os.environ,
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        **cpu_determinism.held(),
        **({MEMORY_VARIABLE: str(memory)} if memory else {}),
        **told_of_plugins(),
        "PYTHONUNBUFFERED": "1",
    }


@dataclass
class Running:
    """A job's process as the parent sees it."""

    job: Job
    folder: JobFolder
    process: forkserver.Process
    events: EventReader
    started: float = field(default_factory=time.monotonic)
    measured: float = 0.0
    waiting: bool = False
    """For another run that is at work on this job; its own time has not begun."""
    importing: str = ""
    """The algorithm's import string while it is imported."""
    family: list[psutil.Process] = field(default_factory=list)
    """The process and all it started, as last seen."""
    ended: tuple[str, str] | None = None
    """Status and reason, as told by the worker or decided by the parent."""

    @staticmethod
    def start(
        job: Job, folder: JobFolder, limits: JobLimits, environment: Mapping[str, str] | None = None
    ) -> Running:
        events = EventReader(folder.events_file)
        shorten_log(folder)
        with folder.log_file.open("ab") as log:
            process = forkserver.start(
                WORKER,
                (str(folder.path.resolve()), str(limits.paths)),
                {**worker_environment(job.threads, limits), **(environment or {})},
                log,
            )
        return Running(job, folder, process, events)

    def look(self) -> None:
        """See what the process has started. What left its group is remembered as well."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.process.pid)
            found = [process, *process.children(recursive=True)]
            orphans = [each for each in self.family if each not in found and each.is_running()]
            self.family = [*found, *orphans]

    def memory(self) -> int:
        """Of the process and all it started; pages that several of them share count once."""
        self.look()
        total = 0
        for process in self.family:
            with contextlib.suppress(psutil.Error):
                total += memory_of(process, shared=len(self.family) > 1)
        return total

    def over(self, limits: JobLimits) -> tuple[str, str] | None:
        """Status and reason if a limit is passed. Memory is looked at twice a second."""
        now = time.monotonic()
        if self.waiting:
            return None
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
        with contextlib.suppress(OSError):  # it may go while it is looked at
            if self.folder.log_file.stat().st_size > LOG_LIMIT:
                return "failed", f"its log grew over {LOG_LIMIT // 1024**2} MiB"
        return None

    def step(self, limits: JobLimits, on_event: OnEvent) -> bool:
        """Look after the process; True if it has ended."""
        over = bool(self.process.poll() is not None)
        for event in self.events:
            if event.get("process") != self.process.pid:
                continue  # of another run on this store
            if event["event"] in ("started", "waited"):
                self.started = time.monotonic()
            self.waiting = event["event"] == "waiting"
            self.importing = event["load"] if event["event"] == "importing" else ""
            if event["event"] == "ended":
                self.ended = (event["status"], event["reason"])
            on_event(self.job, event)
        if not over and (limit := self.over(limits)):
            self.kill(*limit)
            over = True
        return over

    def kill(self, status: str, reason: str) -> None:
        """End the process. What it stored is whole: files are renamed in."""
        self.ended = (status, reason)
        self.look()
        self.clear_away()
        self.process.wait()

    def clear_away(self) -> None:
        """End all that the process started, and the process if it still runs."""
        forkserver.clear_away(self.process.pid)
        for process in self.family:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def close(self) -> Record:
        """The job's record; made here if the worker could not."""
        self.clear_away()
        return settle(self.job, self.folder, *(self.ended or ("failed", self._death())))

    def _death(self) -> str:
        code, during = self.process.returncode, ""
        if self.importing:
            during = f" while it imported {self.importing}"
        if code < 0:
            name = ending(code)
            hint = " (out of memory, or killed by someone)" if name == "SIGKILL" else ""
            return f"the process was ended by {name}{hint}{during}"
        return f"the process ended with {ending(code)} and no result{during}"


def settle(job: Job, folder: JobFolder, status: str, reason: str) -> Record:
    """The record of a job that has ended: the worker's own, or one of what it had solved so far.

    The latter takes the place of an earlier attempt's, unless another run is at work on this job,
    or the disk does not take it, which is told in its place.
    """
    with contextlib.suppress(BellBenchError):
        found = folder.record()
        if found is not None and folder.finished():
            return found
    state = Checkpoints(folder.work / "checkpoints").load()
    record = make_record(job, status, reason, state)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(folder.lock_file, timeout=0):
            folder.write(record)
    except filelock.Timeout:
        pass
    except OSError as error:
        told = f"{reason} (and its record cannot be written: {error})"
        return make_record(job, status, told, state)
    return record


def shorten_log(folder: JobFolder) -> None:
    """Forget a log that an earlier attempt filled: it would count against this one."""
    if folder.log_file.exists() and folder.log_file.stat().st_size > LOG_LIMIT // 2:
        with contextlib.suppress(filelock.Timeout):  # held: another run writes to it just now
            with filelock.FileLock(folder.lock_file, timeout=0):
                os.truncate(folder.log_file, 0)


def memory_of(process: psutil.Process, *, shared: bool) -> int:
    """A process's resident bytes; with ``shared``, its proportional share of what it has in common
    with others, where the system tells."""
    if shared:
        with contextlib.suppress(psutil.AccessDenied, AttributeError):
            return int(process.memory_full_info().pss)
    return int(process.memory_info().rss)


class LocalExecutor:
    """Runs jobs on this machine, ``workers`` at a time: by default as many as its cores hold."""

    here = True

    def __init__(self, store: ResultStore, limits: JobLimits, workers: int | None = None) -> None:
        if workers is not None:
            check_number("--jobs", workers, 1)
        self.store, self.limits, self.workers = store, limits, workers

    def at_once(self, jobs: Sequence[Job]) -> int:
        needed = self.limits.paths * max((job.threads for job in jobs), default=1)
        return min(self.workers or max(1, cores() // needed), max(1, len(jobs)))

    def open(self) -> contextlib.AbstractContextManager[object]:
        return contextlib.nullcontext()

    def run(self, jobs: Sequence[Job], *, on_event: OnEvent, on_finished: OnFinished) -> None:
        workers = self.at_once(jobs)
        limits = self.limits.shared_by(workers)
        waiting, running = deque(jobs), list[Running]()
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    job = waiting.popleft()
                    folder = self.store.folder_of(job)
                    try:
                        running.append(Running.start(job, folder, limits))
                    except OSError as error:  # another job may have spoilt its folder
                        why = f"it could not be started: {error}"
                        on_finished(job, settle(job, folder, "failed", why))
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
