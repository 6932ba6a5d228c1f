"""Avalanche's strategies as algorithms: each name of the catalogue is an attribute of this
module."""

from __future__ import annotations

import functools
from collections.abc import Callable

from bell_bench.algorithm import Algorithm
from bell_bench_avalanche.catalogue import strategies


def __getattr__(name: str) -> Callable[..., Algorithm]:
    if name not in strategies():
        raise AttributeError(name)
    from bell_bench_avalanche.algorithm import StrategyAlgorithm

    return functools.partial(StrategyAlgorithm, strategies()[name])
