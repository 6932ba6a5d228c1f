"""The built-in algorithms, registered as anyone's would be."""

from __future__ import annotations

from collections.abc import Iterator

from bell_bench.hookspecs import hookimpl
from bell_bench.specs import AlgorithmSpec


@hookimpl
def bell_bench_algorithms() -> Iterator[AlgorithmSpec]:
    yield AlgorithmSpec(
        name="sa",
        load="bell_bench_algorithms.sa:Standalone",
        summary="A fresh network per problem: no transfer, the yardstick for all others.",
    )
