"""How much the built-in algorithms train on a problem, at most: the paths each would evaluate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, product

from bell_bench.work import Room, Trainings, standalone


def sa(room: Room) -> Iterator[Trainings]:
    """The standalone path."""
    yield standalone(room)


def mntdp_d(room: Room) -> Iterator[Trainings]:
    """The standalone path and every prefix of one earlier solution."""
    yield standalone(room)
    yield from _prefixes(room)


def houdini(room: Room) -> Iterator[Trainings]:
    """The first 2L + t paths; many train little or nothing, as the output layer varies fastest."""
    yield standalone(room)
    limit = room.options["paths"] or _budget(room)
    choices = [[False] * count + [True] for count in room.fitting]
    first = islice(product(*choices), limit - 1)
    trained = Counter(frozenset(i for i, new in enumerate(path) if new) for path in first)
    for layers, count in trained.items():
        if len(layers) < room.layers:
            yield Trainings(layers, count)


def rs(room: Room) -> Iterator[Trainings]:
    """As many FLOPs as 2L + t standalone paths; how many paths that makes is chance."""
    yield standalone(room, (room.options["trainings"] or _budget(room)) if room.solved else 1)


def picle(room: Room) -> Iterator[Trainings]:
    """The standalone path, and those of both searches, or of the one that is asked for."""
    yield standalone(room)
    if room.options.get("searches") != "nt":
        yield from _prefixes(room)
    if room.options.get("searches") != "pt":
        yield from _suffixes(room)


def pt_only(room: Room) -> Iterator[Trainings]:
    """PICLE's prefixes."""
    yield from mntdp_d(room)


def nt_only(room: Room) -> Iterator[Trainings]:
    """PICLE's suffixes."""
    yield standalone(room)
    yield from _suffixes(room)


def one_network(room: Room) -> Iterator[Trainings]:
    """One network, trained once per problem."""
    yield standalone(room)


def replay(room: Room) -> Iterator[Trainings]:
    """One network, and from the second problem on as many stored examples beside every batch."""
    yield standalone(room, 2 if room.solved else 1)


def _budget(room: Room) -> int:
    return 2 * room.layers + room.solved


def _prefixes(room: Room) -> Iterator[Trainings]:
    for length in range(1, room.fitting_prefix + 1):
        yield Trainings(frozenset(range(length, room.layers)))


def _suffixes(room: Room) -> Iterator[Trainings]:
    """Bayesian optimisation over one suffix per earlier solution, then the best one's longer."""
    shortest, last = room.options["l_min"], room.fitting[::-1]
    if room.layers <= shortest:
        return
    tried = min(*last[:shortest], room.options["c"] or room.layers + shortest)
    if tried:
        yield Trainings(frozenset(range(room.layers - shortest)), tried)
        for length in range(shortest + 1, room.layers):
            if not last[length - 1]:
                return
            yield Trainings(frozenset(range(room.layers - length)))
