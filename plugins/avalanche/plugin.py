"""Registers Avalanche's strategies as a family of algorithms: ``avalanche:NAME``."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench import AlgorithmFamilySpec, hookimpl


@hookimpl
def bell_bench_families() -> Iterable[AlgorithmFamilySpec]:
    yield AlgorithmFamilySpec(
        "avalanche",
        load="bell_bench_avalanche.catalogue:algorithm",
        summary="the strategies of Avalanche",
        members="bell_bench_avalanche.catalogue:members",
        distribution="avalanche-lib",
    )
