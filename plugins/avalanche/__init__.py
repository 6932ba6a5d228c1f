"""Avalanche in both directions: our sequences as its benchmarks, its strategies as our algorithms.

Importing this loads neither torch nor Avalanche, which takes seconds; calling a function does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bell_bench.suites.base import Sequence
    from bell_bench_avalanche.data import joined
    from bell_bench_avalanche.library import SupervisedPlugin
    from bell_bench_avalanche.model import MultiHead
    from bell_bench_avalanche.plugin_algorithm import PluginAlgorithm, PluginTraining

__all__ = [
    "MultiHead",
    "PluginAlgorithm",
    "PluginTraining",
    "SupervisedPlugin",
    "joined",
    "multi_head",
    "to_benchmark",
]

_HOMES = {
    "MultiHead": "bell_bench_avalanche.model",
    "PluginAlgorithm": "bell_bench_avalanche.plugin_algorithm",
    "PluginTraining": "bell_bench_avalanche.plugin_algorithm",
    "SupervisedPlugin": "bell_bench_avalanche.library",
    "joined": "bell_bench_avalanche.data",
}
"""Where each name lives that needs Avalanche; it is imported when it is first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def to_benchmark(sequence: Sequence) -> Any:
    """Return an Avalanche benchmark of a sequence: streams ``train``, ``valid`` and ``test``, with
    one experience per problem and the problem's number as its task label.

    Classes are numbered through the sequence. Images stay as they are stored, each only once; an
    item's images are standardised when it is read, and form a tensor (arity, …).
    """
    from bell_bench_avalanche.benchmark import make_benchmark

    return make_benchmark(sequence)


def multi_head(benchmark: Any, seed: int = 0) -> Any:
    """Return the suite's network for a benchmark of ours: modules are shared wherever their types
    match, and each problem has a head, chosen by task label."""
    from bell_bench_avalanche.model import make_model

    return make_model(benchmark, seed)
