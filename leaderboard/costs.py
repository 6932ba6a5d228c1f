"""Cost beside score: what an algorithm costs, which algorithms are on the Pareto front, equal
budgets."""

from __future__ import annotations

from collections.abc import Mapping

from bell_bench import records
from bell_bench.records import cost_named
from bell_bench_leaderboard.boards import Board
from bell_bench_leaderboard.compare import mean
from bell_bench_leaderboard.derived import BUDGETS, SPENT, at_budget
from bell_bench_leaderboard.grids import Grid, Value, value
from bell_bench_leaderboard.tables import average, notes

COSTS = {cost.name: (cost.title, cost.form, cost.unit) for cost in records.COSTS if cost.traded}
"""For each figure its title, its format and its unit."""
COVERAGE = cost_named("flop_coverage")


def pareto(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the names whose (cost, score) no other name beats in one and at least equals in the
    other, the cheapest first."""
    order = sorted(points, key=lambda name: (points[name][0], -points[name][1]))
    front: list[str] = []
    for name in order:
        cost, score = points[name]
        if not front or score > points[front[-1]][1] or (cost, score) == points[front[-1]]:
            front.append(name)
    return front


def fronts(board: Board) -> dict[str, list[str]]:
    """Return for each cost the algorithms on the Pareto front of A, among those that have completed
    every sequence."""
    found = {}
    for cost in COSTS:
        points = {}
        for name in board.algorithms:
            price, score = mean(board, cost, name), mean(board, "A", name)
            if price is not None and score is not None:
                points[name] = (price.mean, score.mean)
        found[cost] = pareto(points)
    return found


def cost_grid(board: Board) -> Grid:
    """Return a table with the score of each algorithm, the costs of a job, and the fronts that it
    is on."""
    front = fronts(board)
    rows = []
    for name in board.algorithms:
        on = [COSTS[cost][0] for cost, names in front.items() if name in names]
        rows.append(
            [Value(name), average(board, "A", name, "{:.2f}"),
             *(average(board, cost, name, form, scale=scale)
               for cost, (_, form, scale) in COSTS.items()),
             average(board, COVERAGE.name, name, COVERAGE.form),
             Value(", ".join(on) or "–")]
        )  # fmt: skip
    return Grid(
        f"cost of a job beside its score: {board.title}",
        ["algorithm", "A", *(title for title, *_ in COSTS.values()), COVERAGE.title, "unbeaten in"],
        rows,
        [*notes(board),
         f"{COVERAGE.title}: {COVERAGE.says}",
         "unbeaten in: no other has a higher A at no higher cost (by means)"],
    )  # fmt: skip


def budget_grid(board: Board) -> Grid:
    """Return a table of A if an algorithm may spend at most a multiple of the standalone run's
    cost."""
    rows = [
        [Value(name), Value(cost.spent),
         *(value(mean(board, at_budget(cost.name, multiple), name), "{:.2f}")
           for multiple in BUDGETS)]
        for cost in SPENT
        for name in board.algorithms
    ]  # fmt: skip
    return Grid(
        f"A at equal budget, in multiples of sa's cost: {board.title}",
        ["algorithm", "budget of", *(f"×{multiple}" for multiple in BUDGETS)],
        rows,
        ["problems not solved within the budget count as chance"],
        names=2,
        rules=[len(board.algorithms)],
    )
