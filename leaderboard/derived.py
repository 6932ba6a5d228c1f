"""Figures that need a job's problems one by one; most of them also need the standalone run's
problems."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Mapping
from statistics import geometric_mean

from bell_bench.records import COSTS, LONG, Cost, Record, Resources

BUDGETS = (1, 2, 4, 8, 16, 32)
"""Multiples of what the standalone run spent on the same problems."""
SPENT = tuple(sorted((cost for cost in COSTS if cost.spent), key=lambda cost: cost.spent))
"""The costs that are spent problem by problem."""


def at_budget(spent: str, multiple: int) -> str:
    """Return the name of the figure: A if at most ``multiple`` times the standalone run's cost may
    be spent."""
    return f"A_at_{multiple}x_{spent}"


def budget_scores(record: Record, standalone: Record) -> dict[str, float]:
    """Return A, in percentage points, as if the algorithm had been stopped when the budget was
    spent.

    Problems solved by then count with their accuracy at that time, all others count as chance.
    """
    solved = _scores_by_problems_solved(record)
    found = {}
    for cost in SPENT:
        sums = list(itertools.accumulate(_spent(record, cost)))
        unit = sum(_spent(standalone, cost))
        for multiple in BUDGETS:
            reached = bisect.bisect_right(sums, multiple * unit * (1 + 1e-9))
            found[at_budget(cost.name, multiple)] = solved[reached]
    return found


def _spent(record: Record, cost: Cost) -> list[float]:
    return [cost.of(each.resources, record.job) or 0.0 for each in record.problems]


def _scores_by_problems_solved(record: Record) -> list[float]:
    """Return A after none, one, … and all problems. Without a matrix, the accuracies are those
    right after learning."""
    chance = [1 / problem.classes for problem in record.problems]
    count = len(chance)
    matrix = record.matrix or [record.learnt[: solved + 1] for solved in range(count)]
    rows = [[], *matrix[:-1], record.final]
    return [100 * sum([*row, *chance[len(row) :]]) / count for row in rows]


def growth(record: Record, standalone: Record | None) -> dict[str, float]:
    """Return how much more the last third of a long sequence costs than the first, by geometric
    means."""
    found = {}
    for figure in GROWTHS:
        costs = costs_by_problem(figure, record, standalone)
        if costs is not None:
            third = len(costs) // 3
            found[figure] = geometric_mean(costs[-third:]) / geometric_mean(costs[:third])
    return found


def costs_by_problem(figure: str, record: Record, standalone: Record | None) -> list[float] | None:
    """Return what each problem of a long sequence cost; None if one of these costs is 0.

    Problems differ in size, so FLOPs (of training and of everything else) are divided by those of
    the standalone run.
    """
    costs = [GROWTHS[figure](problem.resources) for problem in record.problems]
    if figure == "flops_growth":
        if standalone is None:
            return None
        theirs = [problem.resources.all_flops for problem in standalone.problems]
        costs = [ours / unit if unit else 0.0 for ours, unit in zip(costs, theirs, strict=True)]
    return costs if len(costs) > LONG and min(costs) > 0 else None


GROWTHS: Mapping[str, Callable[[Resources], float]] = {
    "flops_growth": lambda used: used.all_flops,
    "memory_growth": lambda used: float(used.peak_memory_bytes),
}
"""The costs that may grow along a sequence."""
