"""A job's path evaluations as Ray tasks, on whichever node has room: a job's pool on a cluster.

Each module is sent to a node once, and evaluations are sent back, through Ray's object store. So
nodes need not share a folder; if they do share one, no two of them compute the same evaluation.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bell_bench import cpu_determinism
from bell_bench.errors import BellBenchError
from bell_bench.files import write_whole
from bell_bench.harness.executor import MEMORY_VARIABLE
from bell_bench.harness.prefetch import Helper, PendingEvaluation, PoolLost, Wanted
from bell_bench.modular.evaluations import EvaluationStore, file_name
from bell_bench.records import Job
from bell_bench_ray.executor import connected, resources
from bell_bench_ray.node import ORDER_VARIABLE, Order, accept_cancellation, node_folder

if TYPE_CHECKING:
    from bell_bench.modular.library import Library


class RayPool:
    """Evaluates paths on the cluster that the job runs on. Ray ends these tasks with the job,
    however it ends.

    Ray never retries a path on another node: the job evaluates the path itself as soon as it knows
    that the task was lost.
    """

    def __init__(self, order: Order, store: EvaluationStore) -> None:
        self._order, self._store = order, store
        self._connection = contextlib.ExitStack()
        self._task: Any = None
        self._weights: dict[str, Any] = {}
        """By a module's hash, its file in Ray's object store."""

    def send(self, wanted: Wanted, library: Library) -> PendingEvaluation:
        import ray
        from ray.exceptions import RayError

        try:
            if self._task is None:
                self._connect()
            for module in wanted.modules:
                if module.hash not in self._weights:
                    self._weights[module.hash] = ray.put(library.file(module).read_bytes())
            weights = {module.hash: self._weights[module.hash] for module in wanted.modules}
            return _RayEvaluation(self._task.remote(self._order, wanted, weights), self._store)
        except (BellBenchError, RayError, OSError) as error:
            raise PoolLost(str(error)) from error

    def _connect(self) -> None:
        import ray

        self._connection.enter_context(connected(self._order.address))
        wanted = resources(Job.from_json(self._order.job), self._order.limits)
        self._task = ray.remote(evaluate_path).options(
            num_returns="streaming", max_retries=0, **wanted
        )

    def close(self) -> None:
        self._connection.close()


def pool_here(store: EvaluationStore) -> RayPool:
    """Return the pool of the job that this process runs on a node."""
    return RayPool(Order.from_json(os.environ[ORDER_VARIABLE]), store)


@dataclass(frozen=True)
class Answer:
    """An evaluation as it is sent back: a file of the evaluation store."""

    computed: bool
    """Whether it was computed, and not found in the store of that node."""
    name: str
    content: bytes


class _RayEvaluation:
    """A pending evaluation. The node sends two outputs: one when it has begun, then the answer."""

    def __init__(self, news: Any, store: EvaluationStore) -> None:
        self._news, self._store = news, store
        self._begun = self._over = False

    def done(self) -> bool:
        self._check_begun()
        return self._over or (self._begun and _has_output(self._news))

    def fetch(self) -> bool:
        self._check_begun()
        if not self._begun:
            self.cancel()
            return False
        answer: Answer | None = self._next_output()
        self._over = True
        if answer is None:
            return False
        self._store.receive(answer.name, answer.content)
        return answer.computed

    def cancel(self) -> None:
        import ray

        if not self._over:
            self._over = True
            ray.cancel(self._news)

    def _check_begun(self) -> None:
        """Update whether the node has begun."""
        if not self._begun and not self._over and _has_output(self._news):
            self._next_output()
            self._begun = not self._over

    def _next_output(self) -> Any:
        """Return the node's next output; None if the node is lost or failed."""
        import ray
        from ray.exceptions import RayError

        try:
            return ray.get(next(self._news))
        except (RayError, StopIteration):
            self._over = True
            return None


def _has_output(news: Any) -> bool:
    import ray

    return bool(ray.wait([news], timeout=0)[0])


_helper: Helper | None = None


def evaluate_path(order: Order, wanted: Wanted, weights: dict[str, Any]) -> Iterator[Answer | None]:
    """Evaluate a path on a node: yield None to say that it has begun, then the evaluation.

    ``weights`` are references to Ray's objects. Only those are fetched that no task of the run has
    brought to this node before.
    """
    import ray

    global _helper
    accept_cancellation()
    yield None
    if _helper is None:  # a process of Ray serves only one job
        cpu_determinism.hold()
        job, store, _ = order.prepare()
        os.environ[MEMORY_VARIABLE] = str(order.limits_on_this_node().memory_bytes)
        _helper = Helper(job, store.evaluations, node_folder(order.run) / "modules")
    for module in wanted.modules:
        file = _helper.library.file(module)
        if not file.exists():
            write_whole(file, ray.get(weights[module.hash]))
    evaluation = _helper.evaluate(wanted)
    if evaluation is not None and _helper.problem is not None:
        evaluator = _helper.evaluator
        key = evaluator.key(wanted.path, _helper.problem)
        if found := evaluator.store.get(key):
            yield Answer(not evaluation.hit, file_name(key, found.content), found.content)
