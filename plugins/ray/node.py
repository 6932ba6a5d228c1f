"""A job on one node of a cluster: it runs as a local job does, and reports to the driver as it
goes.

If the node sees the driver's folder of results, the job works in it. If not, the job works in a
folder of the node's own, and sends the driver the files that it must keep.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from bell_bench.errors import BellBenchError
from bell_bench.files import write_json
from bell_bench.harness.environment import software
from bell_bench.harness.executor import INTERRUPTED, POOL_VARIABLE, TICK, JobLimits, Running, cores
from bell_bench.records import Job, Record, ResultStore
from bell_bench_ray.file_transfer import (
    FileContents,
    checkpoint_files,
    evaluation_files,
    pack,
    unpack,
)

ORDER_VARIABLE = "BELL_BENCH_ORDER"
"""The environment variable that gives a job's process its order, and shows that it runs on a
cluster."""


@dataclass(frozen=True)
class Order:
    """What the driver asks a node to do."""

    job: dict[str, Any]
    """As JSON, so that a node with another version can still read it and say so."""
    limits: JobLimits
    out: str
    """The driver's folder of results."""
    run: str
    """The run's own name. A file of this name in ``out`` shows a node that it sees the folder."""
    address: str
    """The cluster's address."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Order:
        found = json.loads(text)
        return Order(**{**found, "limits": JobLimits(**found["limits"])})

    def prepare(self) -> tuple[Job, ResultStore, bool]:
        """Return the job, the store where this node keeps its results, and whether that is the
        driver's folder."""
        job = Job.from_json(self.job)
        if job.software != software():
            raise BellBenchError(
                f"{socket.gethostname()} has {software()}, the run was planned with "
                f"{job.software}: install the same versions on all nodes"
            )
        shared = (pathlib.Path(self.out) / self.run).exists()
        return job, ResultStore(pathlib.Path(self.out) if shared else node_folder(self.run)), shared

    def limits_on_this_node(self) -> JobLimits:
        """Return the limits, with a job's share of the memory if the node's cores hold several
        jobs."""
        return self.limits.shared_by(max(1, cores() // int(self.job["threads"])))


@dataclass(frozen=True)
class News:
    """What has happened to a job since the last news."""

    shared: bool
    """Whether the node works in the driver's folder, so that no files need to be sent."""
    events: list[dict[str, Any]] = field(default_factory=list)
    files: FileContents = field(default_factory=dict)
    record: Record | None = None
    """The record, when the job has ended."""


def node_folder(run: str) -> pathlib.Path:
    """Return the folder for a run's jobs on this node, used if it does not share the driver's
    folder."""
    return pathlib.Path(tempfile.gettempdir()) / f"bell-bench-{run}"


def remove_node_folder(run: str) -> None:
    """Remove what the jobs of a run have left on this node."""
    shutil.rmtree(node_folder(run), ignore_errors=True)


def accept_cancellation() -> None:
    """Let Ray cancel this task. Ray sends a signal for this, which a cluster that was started in
    the background of a shell ignores."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_order(order: Order, earlier: FileContents) -> Iterator[News]:
    """Run a job from what ``earlier`` attempts have sent back; with a shared folder, from its
    checkpoint."""
    accept_cancellation()
    job, store, shared = order.prepare()
    if shared:
        yield from _news(order, job, store, None)
        return
    write_json(store.folder_of(job).job_file, job.to_json())
    try:
        unpack(store, earlier)
        yield from _news(order, job, store, Outbox(store, job))
    finally:
        shutil.rmtree(store.folder_of(job).path, ignore_errors=True)


def _news(order: Order, job: Job, store: ResultStore, outbox: Outbox | None) -> Iterator[News]:
    events: list[dict[str, Any]] = []
    limits = order.limits_on_this_node()
    told = {ORDER_VARIABLE: order.to_json(), POOL_VARIABLE: "bell_bench_ray.path_pool:pool_here"}
    running = Running.start(job, store.folder_of(job), limits, told)
    try:
        while not running.step(limits, lambda _, event: events.append(event)):
            files = outbox.collect() if outbox else {}
            if events or files:
                yield News(outbox is None, events.copy(), files)
                events.clear()
            time.sleep(TICK)
    except BaseException:
        running.kill(*INTERRUPTED)
        running.close()
        raise
    record = running.close()
    yield News(outbox is None, events, outbox.rest() if outbox else {}, record)


class Outbox:
    """What a job has made and its driver does not have yet."""

    def __init__(self, store: ResultStore, job: Job) -> None:
        self.store, self.job = store, job
        self._sent = set(checkpoint_files(store, job))

    def collect(self) -> FileContents:
        """Return the new evaluations, and the newest checkpoint if it has not been sent."""
        files: dict[str, bytes] = {}
        for file in evaluation_files(self.store):
            if self._claim(file):
                files |= pack(self.store, [file])
        checkpoint = checkpoint_files(self.store, self.job)
        if checkpoint and checkpoint[-1] not in self._sent:
            new = pack(self.store, [file for file in checkpoint if file not in self._sent])
            self._sent.update(checkpoint if new else ())
            files |= new
        return files

    def rest(self) -> FileContents:
        """Return everything that is left when the job has ended; the record comes last."""
        folder = self.store.folder_of(self.job)
        last = [folder.events_file, folder.log_file, folder.predictions_file, folder.record_file]
        there = [file for file in last if file.exists()]
        return {**self.collect(), **pack(self.store, there)}

    def _claim(self, file: pathlib.Path) -> bool:
        """Return whether this job must send an evaluation: the first job of the node to claim it
        does."""
        if file in self._sent:
            return False
        self._sent.add(file)
        try:
            file.with_suffix(".sent").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True
