"""Jobs as Ray tasks: each runs on a node as it would here, and is started again if its node is
lost."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import pathlib
import signal
import socket
import threading
import uuid
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bell_bench.errors import BellBenchError, UsageError
from bell_bench.harness.executor import INTERRUPTED, TICK, JobLimits, OnEvent, OnFinished, settle
from bell_bench.harness.ranges import check_number
from bell_bench.modular.evaluations import EvaluationStore
from bell_bench.records import Job, Record, ResultStore
from bell_bench_ray.file_transfer import checkpoint_files, is_marker, pack, unpack
from bell_bench_ray.node import News, Order, remove_node_folder, run_order

RETRIES = 5
"""How often a job is started again after its node was lost."""
CONNECT = 10.0
"""The seconds within which a cluster's head must answer."""
GRACE = 5.0
"""The seconds that nodes get to end their jobs when the run is stopped."""


class RayExecutor:
    """Runs jobs on a Ray cluster, at most ``workers`` at once; Ray decides on which nodes.

    The driver keeps everything that a job has sent to it, so only the rest is lost with a node:
    with a shared folder the path evaluation under way, without one also what was being written.
    """

    here = False

    def __init__(
        self,
        store: ResultStore,
        limits: JobLimits,
        workers: int | None = None,
        address: str | None = None,
    ) -> None:
        if workers is not None:
            check_number("--jobs", workers, 1)
        if importlib.util.find_spec("ray") is None:
            raise UsageError(
                "--executor ray needs Ray, which is not installed: pip install 'ray[default]>=2.9'"
            )
        if address and address.startswith("ray://"):
            raise UsageError(
                f"{address} is a Ray client's address: run this command on a node of the cluster, "
                "with --address HOST:PORT or none"
            )
        self.store, self.limits, self.workers, self.address = store, limits, workers, address
        self.evaluations = EvaluationStore(store.evaluations)
        self.run_name = f".run-{uuid.uuid4().hex}"

    def at_once(self, jobs: Sequence[Job]) -> int:
        return 0  # not known: nodes may be busy, or not there yet

    def open(self) -> contextlib.AbstractContextManager[object]:
        return connected(self.address)

    def run(self, jobs: Sequence[Job], *, on_event: OnEvent, on_finished: OnFinished) -> None:
        if not jobs:
            return
        with self._marked():
            waiting, running = deque(jobs), list[RemoteJob]()
            _warn_if_no_node_fits(jobs[0], self.limits)
            try:
                while waiting or running:
                    while waiting and len(running) < (self.workers or len(jobs)):
                        running.append(self._send(waiting.popleft()))
                    for each in _with_news(running):
                        if record := self._receive(each, on_event):
                            running.remove(each)
                            on_finished(each.job, record)
            except BaseException:
                _stop(running)
                for each in running:
                    if each.began:
                        folder = self.store.folder_of(each.job)
                        on_finished(each.job, settle(each.job, folder, *INTERRUPTED))
                raise
            finally:
                cleanup = threading.Thread(
                    target=_remove_node_folders, args=(self.run_name,), daemon=True
                )
                cleanup.start()
                cleanup.join(2 * GRACE)  # a cluster that has lost its head does not answer

    def _order(self, job: Job) -> Order:
        import ray

        out, address = self.store.folder.resolve(), ray.get_runtime_context().gcs_address
        return Order(job.to_json(), self.limits, str(out), self.run_name, address)

    def _send(self, job: Job) -> RemoteJob:
        if not self.store.finished(job):  # another run may have finished it while it waited here
            self.store.folder_of(job).record_file.unlink(missing_ok=True)  # left by an earlier run
        each = RemoteJob(job)
        self._start(each)
        return each

    def _start(self, each: RemoteJob) -> None:
        """Start a job, or start it again from everything that it has sent back."""
        import ray

        earlier = pack(self.store, [*checkpoint_files(self.store, each.job), *each.evaluations])
        task = ray.remote(run_order).options(
            num_returns="streaming", max_retries=0, **resources(each.job, self.limits)
        )
        each.attempts += 1
        each.news = task.remote(self._order(each.job), ray.put(earlier))

    def _receive(self, each: RemoteJob, on_event: OnEvent) -> Record | None:
        """Handle a job's next news; return its record if it has ended."""
        from ray.exceptions import RayError, RayTaskError

        folder = self.store.folder_of(each.job)
        try:
            news = each.next()
        except RayTaskError as error:
            return settle(each.job, folder, "failed", f"{error.cause}")
        except RayError as error:
            why = str(error).strip().splitlines()[0]
            if each.attempts > RETRIES:
                reason = f"lost with its node {each.attempts} times: {why}"
                return settle(each.job, folder, "failed", reason)
            on_event(each.job, {"event": "lost", "reason": why})
            self._start(each)
            return None
        if not news.shared:
            self._keep(each, news)
        for event in news.events:
            on_event(each.job, event)
        if news.record and not folder.record_file.exists():  # a network folder may show it late
            folder.write(news.record)
        return news.record

    def _keep(self, each: RemoteJob, news: News) -> None:
        """Write the files that a node without a shared folder has sent."""
        evaluations, rest = self.store.evaluations.name, {}
        for name, content in news.files.items():
            if name.startswith(f"{evaluations}/"):
                self.evaluations.receive(name.rpartition("/")[2], content)
                each.evaluations.append(self.store.folder / name)
            else:
                rest[name] = content
        if any(map(is_marker, rest)):
            each.evaluations.clear()  # they are of solved problems: a new start does not need them
        unpack(self.store, rest)

    @contextlib.contextmanager
    def _marked(self) -> Iterator[None]:
        """Keep a file in the driver's folder while the run lasts: a node that sees it shares the
        folder."""
        mark = self.store.folder / self.run_name
        mark.touch()
        try:
            yield
        finally:
            mark.unlink(missing_ok=True)


@dataclass(eq=False)
class RemoteJob:
    """A job on a node, or waiting for one, as the driver sees it."""

    job: Job
    news: Any = None
    """Ray's generator of the node's news."""
    attempts: int = 0
    began: bool = False
    """Whether the node has sent anything."""
    evaluations: list[pathlib.Path] = field(default_factory=list)
    """The evaluations that it has sent back for the problem it is solving."""

    def next(self) -> News:
        import ray

        news: News = ray.get(next(self.news))
        self.began = True
        return news


def resources(job: Job, limits: JobLimits) -> dict[str, Any]:
    """Return what a job needs of a node, in Ray's terms."""
    if job.device.startswith("cuda:"):
        raise UsageError(f"--device {job.device}: Ray chooses the card, so use --device cuda")
    return {
        "num_cpus": job.threads,
        "num_gpus": 1 if job.device == "cuda" else 0,
        **({"memory": limits.memory_bytes} if limits.memory_bytes else {}),
    }


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connect to a cluster; use this process's connection if it already has one."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    import ray

    if ray.is_initialized():
        yield
        return
    _check_reachable(address or os.environ.get("RAY_ADDRESS", ""))
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except Exception as error:  # Ray raises many kinds, Exception itself among them
        raise _no_cluster(address or "the default address", error) from error
    if main:
        signal.signal(signal.SIGTERM, handler)  # Ray has replaced the handler with its own
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise an error if the cluster does not answer. Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=CONNECT).close()
        except (OSError, OverflowError) as error:
            raise _no_cluster(address, error) from error


def _no_cluster(address: str, error: Exception) -> BellBenchError:
    why = (str(error).splitlines() or [type(error).__name__])[0]
    return BellBenchError(
        f"no Ray cluster answers at {address}: {why}\nstart one with `ray start --head`"
    )


def _with_news(running: list[RemoteJob]) -> list[RemoteJob]:
    """Wait a moment, and return the jobs that have sent news or ended."""
    import ray

    streams = [each.news for each in running]
    ready, _ = ray.wait(streams, num_returns=len(streams), timeout=TICK)
    with_news = set(map(id, ready))
    return [each for each in running if id(each.news) in with_news]


def _stop(running: Sequence[RemoteJob]) -> None:
    """Stop jobs, and give their nodes a little time to do so."""
    import ray

    for each in running:
        ray.cancel(each.news)
    if ended := [each.news.completed() for each in running]:  # more news may never come
        ray.wait(ended, num_returns=len(ended), timeout=GRACE)


def _warn_if_no_node_fits(job: Job, limits: JobLimits) -> None:
    """Warn if no node can take a job now. It is no error: a cluster that grows may get such a
    node."""
    import ray

    wanted = resources(job, limits)
    needs = {"CPU": wanted["num_cpus"], "GPU": wanted["num_gpus"], "memory": wanted.get("memory")}
    asked = {name: amount for name, amount in needs.items() if amount}
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(all(node.get(name, 0) >= asked[name] for name in asked) for node in nodes):
        words = ", ".join(f"{amount:g} {name}" for name, amount in asked.items())
        warnings.warn(f"no node of the cluster has {words} yet: waiting for one", stacklevel=2)


def _remove_node_folders(run: str) -> None:
    """Remove what the jobs of this run left on nodes without a shared folder."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    places = [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
    remove = ray.remote(remove_node_folder)
    done = [
        remove.options(num_cpus=0, max_retries=0, scheduling_strategy=place).remote(run)
        for place in places
    ]
    ray.wait(done, num_returns=len(done), timeout=GRACE)
