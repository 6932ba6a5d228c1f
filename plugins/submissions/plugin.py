"""Registers the verbs that pack results and check them, and their functions."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench import VerbSpec, hookimpl


@hookimpl
def bell_bench_verbs() -> Iterable[VerbSpec]:
    yield VerbSpec(
        "submit",
        load="bell_bench_submissions.cli.submit:command",
        summary="Pack results into one file.",
        functions={"submit": "bell_bench_submissions.functions:submit"},
    )
    yield VerbSpec(
        "validate",
        load="bell_bench_submissions.cli.validate:command",
        summary="Check such a file; recompute its figures.",
        functions={"validate": "bell_bench_submissions.functions:validate"},
    )
