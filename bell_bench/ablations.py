"""PICLE's ablations are an algorithm's, so they are loaded by name, as algorithms are."""

from __future__ import annotations

from typing import Any


def load(name: str) -> Any:
    """A function of theirs, such as ``density:run``; what it trains is trained as jobs do it."""
    from bell_bench.cpu_determinism import hold
    from bell_bench.import_strings import load_object

    hold()
    return load_object(f"bell_bench_paper.ablations.{name}")
