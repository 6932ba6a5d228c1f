"""Figures of a long sequence that was run once, with an interval over its problems.

Sixty or a hundred problems tell much about their own sequence: how much more an algorithm gains on
them than another, and whether late ones cost more than early ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bell_bench.records import LONG, Record
from bell_bench_leaderboard.bootstrap import LEVEL, Estimate, Values, estimate
from bell_bench_leaderboard.derived import GROWTHS, along


def over_problems(
    figure: str, records: Sequence[Record], compared: int, *, level: float = LEVEL
) -> Estimate | None:
    """The figure of the first record, minus the second's if two are ``compared``; a standalone
    record that it is measured against comes last. None where problems cannot tell."""
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


def _growth(figure: str, records: Sequence[Record], level: float) -> Estimate | None:
    """Last third over first, of geometric means."""
    costs = along(figure, records[0], records[-1])
    if costs is None:
        return None
    third = len(costs) // 3
    logs = 2 * np.log(costs)  # the estimate is the mean of two strata: twice makes it their sum
    found = estimate([logs[-third:], -logs[:third]], level=level)
    ends = (None if end is None else math.exp(end) for end in (found.low, found.high))
    low, high = ends
    return replace(found, mean=math.exp(found.mean), low=low, high=high)
