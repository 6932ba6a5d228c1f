"""Avalanche's strategies by name, read from a table, so that listing them does not import
Avalanche.

``avalanche:NAME`` names a strategy wherever an algorithm is named. ``python -m
bell_bench_avalanche.make_table`` makes the table from the installed Avalanche, and a test compares
the two.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bell_bench.errors import UsageError, unknown
from bell_bench.files import read_json
from bell_bench.specs import AlgorithmSpec, Option

FAMILY = "avalanche"
TABLE = pathlib.Path(__file__).with_name("strategies.json")
_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}


@dataclass(frozen=True)
class Strategy:
    """A row of the table."""

    name: str
    load: str
    """Avalanche's class as an import string."""
    summary: str
    reason: str = ""
    """Why it is not supported; empty if it is."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The constructor's own arguments: type, default, help."""
    embeds: bool = False
    """Whether it needs an embedding from its model, not class scores."""
    online: bool = False
    """Whether it takes each batch as an experience, in one pass over the data."""


@functools.cache
def strategies() -> dict[str, Strategy]:
    """Return all of Avalanche's strategies, supported or not."""
    return {name: Strategy(name, **row) for name, row in read_json(TABLE).items()}


def algorithm(name: str) -> AlgorithmSpec:
    """Return the algorithm ``avalanche:NAME``; raise UsageError with the reason if it is not
    supported."""
    if name not in strategies():
        hint = f"(see `bell-bench list {FAMILY}`)"
        raise unknown(f"strategy of {FAMILY}", name, strategies(), hint)
    strategy = strategies()[name]
    if strategy.reason:
        raise UsageError(f"{FAMILY}:{name} is not supported: {strategy.reason}")
    return AlgorithmSpec(
        name=f"{FAMILY}:{name}",
        load=f"bell_bench_avalanche.strategies:{name}",
        summary=strategy.summary,
        options={key: _option(**row) for key, row in strategy.options.items()},
    )


def members() -> list[dict[str, Any]]:
    """Return all strategies as rows of a listing, the supported ones first."""
    return [
        {
            "name": f"{FAMILY}:{strategy.name}",
            "summary": strategy.summary,
            "reason": strategy.reason,
            "options": list(strategy.options),
        }
        for strategy in sorted(strategies().values(), key=lambda row: bool(row.reason))
    ]


def _option(type: str, default: Any, help: str) -> Option:
    return Option(_TYPES[type], default, help, optional=default is None)
