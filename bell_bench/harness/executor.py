"""Run jobs in local processes, one per job; watch them from outside, and end those over a limit."""

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
"""The module that runs a job: its ``start`` takes the folder and how many paths at once."""
TICK = 0.1
LOG_LIMIT = 256 * 1024**2
MEMORY_VARIABLE = "BELL_BENCH_JOB_MEMORY"
"""The memory a job may use, in bytes; its caches keep to a part of it
(bell_bench.modular.prefix)."""
POOL_VARIABLE = "BELL_BENCH_PATH_POOL"
"""Where a job evaluates paths in parallel, if not on its own machine: the import string of a
function that takes its ``EvaluationStore`` and returns a pool like
``bell_bench.harness.path_pool.LocalPool``."""
INTERRUPTED = ("interrupted", "the same command goes on from here")
"""The status and reason of a job that was stopped together with the run."""
OnEvent: TypeAlias = Callable[[Job, dict[str, Any]], None]
"""Called with each event of a job."""
OnFinished: TypeAlias = Callable[[Job, Record], None]
"""Called with a job's record when the job has ended."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                    "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")  # fmt: skip


@dataclass(frozen=True)
class JobLimits:
    """Limits of one job; None means no limit."""

    seconds: float | None = None
    memory_bytes: int | None = None
    paths: int = 1
    """How many paths are evaluated at once, each in a process of its own if there are several."""

    def __post_init__(self) -> None:
        for what, limit in (("--timeout", self.seconds), ("--memory", self.memory_bytes)):
            if limit is not None:
                check_positive(what, limit)
        check_number("--parallel-paths", self.paths, 1)

    def shared_by(self, workers: int) -> JobLimits:
        """Return these limits with a memory limit: as asked, or a share of the machine's memory."""
        share = int(0.9 * psutil.virtual_memory().total / workers)
        return replace(self, memory_bytes=self.memory_bytes or share)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_environment(threads: int = 1, limits: JobLimits | None = None) -> dict[str, str]:
    """Return the environment of a job's process: threads, kernels, share of memory."""
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
    """Whether it waits for another run that works on this job; its own time has not begun."""
    importing: str = ""
    """The algorithm's import string while it is imported."""
    family: list[psutil.Process] = field(default_factory=list)
    """The process and all processes it started, as last seen."""
    ended: tuple[str, str] | None = None
    """The status and reason, from the worker or decided by the parent."""

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
        """Find the processes that it started; those that left its group are remembered."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.process.pid)
            found = [process, *process.children(recursive=True)]
            orphans = [each for each in self.family if each not in found and each.is_running()]
            self.family = [*found, *orphans]

    def memory(self) -> int:
        """Return the memory of the process and all it started; pages that they share count once."""
        self.look()
        total = 0
        for process in self.family:
            with contextlib.suppress(psutil.Error):
                total += memory_of(process, shared=len(self.family) > 1)
        return total

    def over(self, limits: JobLimits) -> tuple[str, str] | None:
        """Return status and reason if a limit is passed. Memory is measured twice a second."""
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
        with contextlib.suppress(OSError):  # the file may vanish meanwhile
            if self.folder.log_file.stat().st_size > LOG_LIMIT:
                return "failed", f"its log grew over {LOG_LIMIT // 1024**2} MiB"
        return None

    def step(self, limits: JobLimits, on_event: OnEvent) -> bool:
        """Handle new events and check the limits; return whether the process has ended."""
        over = bool(self.process.poll() is not None)
        for event in self.events:
            if event.get("process") != self.process.pid:
                continue  # an event of another run on this store
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
        """End the process. The files it stored are whole: files are renamed into place."""
        self.ended = (status, reason)
        self.look()
        self.clear_away()
        self.process.wait()

    def clear_away(self) -> None:
        """End all processes that it started, and itself if it still runs."""
        forkserver.clear_away(self.process.pid)
        for process in self.family:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def close(self) -> Record:
        """Return the job's record; make it here if the worker could not."""
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
    """Return the record of a job that has ended: the worker's own, or one of what was solved so
    far.

    The latter replaces the record of an earlier attempt, unless another run works on this job. If
    it cannot be written, its reason says so.
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
    """Empty a log that an earlier attempt filled: its size would count against this attempt."""
    if folder.log_file.exists() and folder.log_file.stat().st_size > LOG_LIMIT // 2:
        with contextlib.suppress(filelock.Timeout):  # held: another run is writing to it
            with filelock.FileLock(folder.lock_file, timeout=0):
                os.truncate(folder.log_file, 0)


def memory_of(process: psutil.Process, *, shared: bool) -> int:
    """Return a process's resident bytes; if ``shared``, its proportional share of the memory that
    it has in common with others, where the system reports it."""
    if shared:
        with contextlib.suppress(psutil.AccessDenied, AttributeError):
            return int(process.memory_full_info().pss)
    return int(process.memory_info().rss)


class LocalExecutor:
    """Runs jobs on this machine, ``workers`` at a time; by default, as many as fit its cores."""

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
                    except OSError as error:  # another job may have damaged its folder
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
