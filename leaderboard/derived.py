"""Figures that need a job's problems one by one, most of them beside the standalone run's."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Mapping, Sequence
from statistics import geometric_mean
from typing import Any

from bell_bench_leaderboard.reading import Record

BUDGETS = (1, 2, 4, 8, 16, 32)
"""In multiples of what the standalone run spent on the same problems."""
SPENT = ("train_flops", "seconds")
"""What can be spent problem by problem."""
GROWING = 20
"""Problems that a sequence must have for the growth of costs to be told."""


def at_budget(spent: str, multiple: int) -> str:
    """The name of the figure: A where no more than so much could be spent."""
    return f"A_at_{multiple}x_{spent}"


def budget_scores(record: Record, standalone: Record) -> dict[str, float]:
    """A, in percentage points, had the algorithm been stopped when the budget was spent.

    Problems solved by then count with their accuracy at that time, the others with chance.
    """
    solved = _scores_by_problems_solved(record)
    found = {}
    for spent in SPENT:
        sums = list(itertools.accumulate(_spent(record, spent)))
        unit = sum(_spent(standalone, spent))
        for multiple in BUDGETS:
            reached = bisect.bisect_right(sums, multiple * unit * (1 + 1e-9))
            found[at_budget(spent, multiple)] = solved[reached]
    return found


def _spent(record: Record, name: str) -> list[float]:
    measured = clock(record) if name == "seconds" else name
    return [problem["resources"][measured] for problem in record["problems"]]


def clock(record: Record) -> str:
    """Which of a problem's times is its cost: the processor's, which other work on the machine does
    not lengthen; on other devices the wall's, as the processor only waits for them."""
    return "cpu_s" if record["job"].get("device", "cpu") == "cpu" else "wall_s"


def _scores_by_problems_solved(record: Record) -> list[float]:
    """A after none, one, … and all problems. Without a matrix, as they were when learnt."""
    problems: Sequence[Mapping[str, Any]] = record["problems"]
    chance = [1 / problem.get("classes", 2) for problem in problems]
    learnt = [problem["accuracy_learnt"] for problem in problems]
    matrix = record.get("matrix") or [learnt[: count + 1] for count in range(len(problems))]
    final = [problem["accuracy_final"] for problem in problems]
    rows = [[], *matrix[:-1], final]
    return [100 * sum([*row, *chance[len(row) :]]) / len(problems) for row in rows]


def growth(record: Record, standalone: Record | None) -> dict[str, float]:
    """How much dearer the last third of a long sequence is than the first: geometric means."""
    found = {}
    for figure in GROWTHS:
        costs = along(figure, record, standalone)
        if costs is not None:
            third = len(costs) // 3
            found[figure] = geometric_mean(costs[-third:]) / geometric_mean(costs[:third])
    return found


def along(figure: str, record: Record, standalone: Record | None) -> list[float] | None:
    """What each problem of a long sequence cost. FLOPs, all of them, are taken relative to the
    standalone run's, for problems differ in size. None where one of them is nothing."""
    costs = [GROWTHS[figure](problem["resources"]) for problem in record["problems"]]
    if figure == "flops_growth":
        if standalone is None:
            return None
        theirs = [all_flops(problem["resources"]) for problem in standalone["problems"]]
        costs = [ours / unit if unit else 0.0 for ours, unit in zip(costs, theirs, strict=True)]
    return costs if len(costs) >= GROWING and min(costs) > 0 else None


def all_flops(resources: Mapping[str, Any]) -> float:
    """Of training, and of validation, statistics and neighbours."""
    return float(resources["train_flops"] + resources.get("inference_flops", 0.0))


GROWTHS: Mapping[str, Callable[[Mapping[str, Any]], float]] = {
    "flops_growth": all_flops,
    "memory_growth": lambda resources: float(resources["peak_memory_bytes"]),
}
"""What may grow along a sequence."""
