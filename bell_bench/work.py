"""How much an algorithm trains, declared before it runs; ``bell-bench plan`` adds it up.

An algorithm may name a function in ``AlgorithmSpec.work``. It takes the ``Room`` that the algorithm
has on one problem, and returns the trainings that it makes there, at most. Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Room:
    """What an algorithm can reuse on one problem of a sequence."""

    fitting: tuple[int, ...]
    """Per layer of the problem's network, how many earlier problems have a module that fits."""
    solved: int
    """How many problems came before this one."""
    options: Mapping[str, Any]
    """The algorithm's options."""

    @property
    def layers(self) -> int:
        return len(self.fitting)

    @property
    def fitting_prefix(self) -> int:
        """For how many layers, from the input on, there is a module to reuse."""
        return next((i for i, count in enumerate(self.fitting) if not count), self.layers)


@dataclass(frozen=True)
class Trainings:
    """A number of trainings of the same layers."""

    layers: frozenset[int]
    """The layers that are trained; empty if a path is only evaluated."""
    count: float = 1


Work: TypeAlias = Callable[[Room], Iterable[Trainings]]


def standalone(room: Room, count: float = 1) -> Trainings:
    """Return trainings of the whole network."""
    return Trainings(frozenset(range(room.layers)), count)
