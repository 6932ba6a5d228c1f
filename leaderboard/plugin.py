"""Registers the leaderboard as the way to show results: tables, pictures and a page."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench.hookspecs import hookimpl
from bell_bench.specs import ResultsSpec


@hookimpl
def bell_bench_results() -> Iterable[ResultsSpec]:
    yield ResultsSpec(
        "leaderboard",
        load="bell_bench_leaderboard.results:Results",
        summary="tables with intervals, pictures and a page",
    )
