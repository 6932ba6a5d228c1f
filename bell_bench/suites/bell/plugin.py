"""BELL registers as any suite would."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench.hookspecs import hookimpl
from bell_bench.specs import SuiteSpec


@hookimpl
def bell_bench_suites() -> Iterable[SuiteSpec]:
    yield SuiteSpec(
        "bell",
        load="bell_bench.suites.bell.suite:BELL",
        summary="compositional problems on pairs of images; each sequence tests one property",
    )
