"""Figures of a long sequence that was run once, with an interval over its problems.

Sixty or a hundred problems say much about their own sequence: how much more an algorithm gains on
them than another, and whether late problems cost more than early ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bell_bench.records import LONG, Record
from bell_bench_leaderboard.bootstrap import LEVEL, MeanEstimate, Values, estimate
from bell_bench_leaderboard.derived import GROWTHS, costs_by_problem


def over_problems(
    figure: str, records: Sequence[Record], compared: int, *, level: float = LEVEL
) -> MeanEstimate | None:
    """Return a figure of the first record, or of the first minus the second if two are
    ``compared``. If the figure needs the standalone run, that record comes last. Return None if a
    sequence's problems cannot give the figure."""
    if len(records[0].problems) <= LONG or not _same(records):
        return None
    if figure in GROWTHS:
        return _growth(figure, records, level) if compared == 1 else None
    if figure not in ("A", "A_gain", "F"):
        return None
    values = _values(figure, records[0])
    if compared == 2:
        values = values - _values(figure, records[1])
    elif figure == "A_gain":
        values = values - _values(figure, records[-1])
    return estimate([values], level=level)


def _same(records: Sequence[Record]) -> bool:
    problems = {tuple(problem.fingerprint for problem in record.problems) for record in records}
    return len(problems) == 1


def _values(figure: str, record: Record) -> Values:
    final, learnt = np.array(record.final), np.array(record.learnt)
    return 100 * (final - learnt if figure == "F" else final)


def _growth(figure: str, records: Sequence[Record], level: float) -> MeanEstimate | None:
    """Return the costs of the last third over those of the first, by geometric means."""
    costs = costs_by_problem(figure, records[0], records[-1])
    if costs is None:
        return None
    third = len(costs) // 3
    logs = 2 * np.log(costs)  # an estimate is the mean of two strata: doubled, it is their sum
    found = estimate([logs[-third:], -logs[:third]], level=level)
    ends = (None if end is None else math.exp(end) for end in (found.low, found.high))
    low, high = ends
    return replace(found, mean=math.exp(found.mean), low=low, high=high)
