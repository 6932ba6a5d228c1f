"""How much an algorithm trains, declared before it runs; ``bell-bench plan`` adds it up.

``AlgorithmSpec.work`` names a function that is given each problem of a sequence in turn, as a
``PlannedProblem``, and yields the trainings that the algorithm needs there, at most. This module
imports nothing heavy, and the module of such a function should not either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class PlannedProblem:
    """What is known of a problem before anything is trained."""

    fitting: tuple[int, ...]
    """Per layer of the problem's network, how many earlier problems have a module that fits."""
    solved: int
    """How many problems came before this one."""
    options: Mapping[str, Any]
    """The algorithm's options."""

    @property
    def layers(self) -> int:
        """How many layers the problem's network has."""
        return len(self.fitting)

    @property
    def fitting_prefix(self) -> int:
        """How many layers, counted from the input, have a module to reuse."""
        return next((i for i, count in enumerate(self.fitting) if not count), self.layers)

    def standalone(self, count: float = 1) -> PlannedTrainings:
        """Return ``count`` trainings of the whole network."""
        return PlannedTrainings(frozenset(range(self.layers)), count)


@dataclass(frozen=True)
class PlannedTrainings:
    """Some trainings of the same layers of a problem's network."""

    layers: frozenset[int]
    """The layers that are trained; empty where a path is only evaluated."""
    count: float = 1
    """How many such trainings there are."""


Work: TypeAlias = Callable[[PlannedProblem], Iterable[PlannedTrainings]]
