"""Registers Ray as an executor."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench import ExecutorSpec, hookimpl


@hookimpl
def bell_bench_executors() -> Iterable[ExecutorSpec]:
    yield ExecutorSpec(
        "ray", load="bell_bench_ray.executor:RayExecutor", summary="the nodes of a Ray cluster"
    )
