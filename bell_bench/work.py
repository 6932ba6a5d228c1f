"""How much an algorithm trains, said before it runs; what ``bell-bench plan`` adds up.

An algorithm that can say so names a function in ``AlgorithmSpec.work``: from the ``Room`` it has on
one problem to the trainings that takes, at most. Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Room:
    """What an algorithm finds on one problem of a sequence."""

    fitting: tuple[int, ...]
    """Per layer of the problem's network, how many earlier problems have a module that fits."""
    solved: int
    """How many problems came before."""
    options: Mapping[str, Any]
    """The algorithm's."""

    @property
    def layers(self) -> int:
        return len(self.fitting)

    @property
    def fitting_prefix(self) -> int:
        """For how many layers, from the input on, there is anything to reuse."""
        return next((i for i, count in enumerate(self.fitting) if not count), self.layers)


@dataclass(frozen=True)
class Trainings:
    """Some trainings of the same layers."""

    layers: frozenset[int]
    """The layers that are trained; none if a path is only evaluated."""
    count: float = 1


Work: TypeAlias = Callable[[Room], Iterable[Trainings]]


def standalone(room: Room, count: float = 1) -> Trainings:
    """Of the whole network."""
    return Trainings(frozenset(range(room.layers)), count)
