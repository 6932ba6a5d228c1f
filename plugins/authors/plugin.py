"""The verbs for authors of algorithms, their functions, and the names of ``bell_bench.testing``."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench import VerbSpec, hookimpl

TESTING = ("CONTRACTS", "ContractBroken", "Finding", "check_algorithm", "examine", "explanation")


@hookimpl
def bell_bench_verbs() -> Iterable[VerbSpec]:
    yield VerbSpec(
        "new-algorithm",
        load="bell_bench_authors.cli.new_algorithm:command",
        summary="Start an algorithm of your own: a package that runs.",
        functions={"new_algorithm": "bell_bench_authors.functions:new_algorithm"},
    )
    yield VerbSpec(
        "check",
        load="bell_bench_authors.cli.check:command",
        summary="Does an algorithm keep every contract?",
        functions={
            "check": "bell_bench_authors.functions:check",
            **{name: f"bell_bench_authors.testing:{name}" for name in TESTING},
        },
    )
