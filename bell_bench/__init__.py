"""bell-bench: which continual-learning algorithm transfers what, and at which cost?

The names below are what a plugin author needs. Each is imported when it is first used, so that
``import bell_bench`` costs nothing and declaring a plugin imports neither torch nor numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bell_bench.algorithm import Algorithm, Context
    from bell_bench.hookspecs import hookimpl, hookspec
    from bell_bench.modular.path import Path
    from bell_bench.problem import Inputs, Problem, Split
    from bell_bench.specs import AlgorithmSpec, DomainSpec, Option, SuiteSpec

__version__ = "0.1.0"

__all__ = [
    "Algorithm",
    "AlgorithmSpec",
    "Context",
    "DomainSpec",
    "Inputs",
    "Option",
    "Path",
    "Problem",
    "Split",
    "SuiteSpec",
    "__version__",
    "hookimpl",
    "hookspec",
]

_HOMES = {
    "Algorithm": "bell_bench.algorithm",
    "AlgorithmSpec": "bell_bench.specs",
    "Context": "bell_bench.algorithm",
    "DomainSpec": "bell_bench.specs",
    "Inputs": "bell_bench.problem",
    "Option": "bell_bench.specs",
    "Path": "bell_bench.modular.path",
    "Problem": "bell_bench.problem",
    "Split": "bell_bench.problem",
    "SuiteSpec": "bell_bench.specs",
    "hookimpl": "bell_bench.hookspecs",
    "hookspec": "bell_bench.hookspecs",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
