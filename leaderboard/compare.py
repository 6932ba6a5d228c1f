"""Comparisons of algorithms: paired differences, and ranks that the data can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bell_bench_leaderboard.boards import Board
from bell_bench_leaderboard.bootstrap import LEVEL, MeanEstimate, Values, estimate


def mean(
    board: Board,
    figure: str,
    name: str,
    sequences: Sequence[str] | None = None,
    *,
    level: float | None = LEVEL,
) -> MeanEstimate | None:
    """Return a figure's mean over ``sequences``, by default all short ones; None if one is
    incomplete."""
    asked = board.averaged if sequences is None else sequences
    return _over(board, {each: board.values(figure, name, each) for each in asked}, level)


def mean_of_complete(
    board: Board, figure: str, name: str, *, level: float | None = LEVEL
) -> tuple[MeanEstimate | None, int]:
    """Return a figure's mean over the short sequences that are complete, and how many these are."""
    found = {each: board.values(figure, name, each) for each in board.averaged}
    complete = {each: values for each, values in found.items() if values is not None}
    return _over(board, complete, level), len(complete)


def difference(
    board: Board,
    figure: str,
    name: str,
    other: str,
    sequences: Sequence[str] | None = None,
    *,
    level: float = LEVEL,
) -> MeanEstimate | None:
    """Return ``name`` minus ``other``, paired by realisation; None if not all realisations can be
    paired."""
    asked = board.averaged if sequences is None else sequences
    return _over(board, {each: _paired(board, figure, name, other, each) for each in asked}, level)


def _over(
    board: Board, found: Mapping[str, Values | None], level: float | None
) -> MeanEstimate | None:
    """Return the mean over sequences; None if there are no sequences, or if one has no values."""
    known = [values for values in found.values() if values is not None]
    if not known or len(known) < len(found):
        return None
    return estimate(known, [board.draws[each] for each in found], level=level)


def _paired(board: Board, figure: str, name: str, other: str, sequence: str) -> Values | None:
    """Return the differences on the same problems, one per realisation; None if they cannot be
    paired."""
    one, two = board.cells[sequence, name], board.cells[sequence, other]
    here, there = (board.values(figure, each, sequence) for each in (name, other))
    if here is None or there is None or one.problems != two.problems:
        return None
    return here - there


@dataclass(frozen=True)
class Rank:
    """The range of places that an algorithm may have, given which others are known to be better or
    worse."""

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


def ranks(
    board: Board, figure: str = "A", sequences: Sequence[str] | None = None
) -> dict[str, Rank]:
    """Return the ranks of the algorithms that have completed every sequence; a tie is a range of
    ranks.

    Two algorithms are told apart if the interval of their paired difference leaves out 0. The level
    is such that all pairs together are wrong at most one time in twenty. Without intervals there
    are no ranks.
    """
    names = [name for name in board.algorithms if mean(board, figure, name, sequences) is not None]
    pairs = [(one, two) for place, one in enumerate(names) for two in names[:place]]
    better: dict[str, int] = dict.fromkeys(names, 0)
    worse: dict[str, int] = dict.fromkeys(names, 0)
    for one, two in pairs:
        level = 1 - (1 - LEVEL) / len(pairs)
        found = difference(board, figure, one, two, sequences, level=level)
        if found is None or found.low is None or found.high is None:
            return {}
        if found.low > 0 or found.high < 0:
            up, down = (one, two) if found.low > 0 else (two, one)
            worse[up] += 1
            better[down] += 1
    return {name: Rank(1 + better[name], len(names) - worse[name]) for name in names}
