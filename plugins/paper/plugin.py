"""Registers the paper's verbs and their functions."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench import VerbSpec, hookimpl


@hookimpl
def bell_bench_verbs() -> Iterable[VerbSpec]:
    yield VerbSpec(
        "reproduce",
        load="bell_bench_paper.cli.reproduce:command",
        summary="The paper, claim by claim.",
        functions={"reproduce": "bell_bench_paper.functions:reproduce"},
    )
    yield VerbSpec(
        "ablate",
        load="bell_bench_paper.cli.ablate:command",
        summary="PICLE's parts against alternatives.",
        functions={
            "ablate_density": "bell_bench_paper.functions:ablate_density",
            "ablate_nt_search": "bell_bench_paper.functions:ablate_nt_search",
        },
    )
