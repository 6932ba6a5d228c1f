"""Costs: Pareto fronts, equal budgets and growth."""

from __future__ import annotations

from statistics import geometric_mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bell_bench_leaderboard.boards import boards
from bell_bench_leaderboard.costs import budget_grid, cost_grid, fronts, pareto
from bell_bench_leaderboard.derived import at_budget, growth
from tests.leaderboard.making import read, record, result_rows, series

POINT = st.tuples(st.integers(0, 5).map(float), st.integers(0, 5).map(float))


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=3), POINT, min_size=1))
def test_a_front_is_all_that_nobody_beats(points):
    def beaten(name):
        cost, score = points[name]
        return any(
            other[0] <= cost and other[1] >= score and other != (cost, score)
            for other in points.values()
        )

    front = pareto(points)
    assert set(front) == {name for name in points if not beaten(name)}
    assert [points[name][0] for name in front] == sorted(points[name][0] for name in front)


def test_the_front_of_a_board():
    (board,) = boards(
        result_rows(
            [*series("sa", (0.5, 0.6)), *series("dear", (0.7, 0.8), resources={"cpu_s": 9.0}),
             *series("waste", (0.4, 0.5), resources={"cpu_s": 5.0})]
        )
    )  # fmt: skip
    assert fronts(board)["seconds"] == ["sa", "dear"]
    rows = {row[0].text: row[-1].text for row in cost_grid(board).rows}
    assert "seconds" in rows["dear"]
    assert rows["waste"] == "–"


@pytest.mark.parametrize(("device", "seconds"), [("cpu", 3.0), ("cuda:1", 4.0)])
def test_seconds_are_those_that_other_work_on_the_machine_does_not_change(device, seconds):
    (row,) = result_rows([record("a", (0.9, 0.7), device=device)])
    assert (row["wall_s"], row["cpu_s"]) == (4.0, 3.0)
    assert row["seconds"] == seconds


def test_scores_at_equal_budget_by_hand():
    """Twice as dear as sa: at its budget one of two problems is solved, the other is chance."""
    rows = result_rows(
        [record("a", (0.9, 0.7), resources={"train_flops": 2e9}), record("sa", (0.8, 0.8))]
    )
    assert rows[0][at_budget("train_flops", 1)] == pytest.approx(100 * (0.9 + 0.5) / 2)
    assert rows[0][at_budget("train_flops", 2)] == pytest.approx(80)
    assert rows[0][at_budget("seconds", 1)] == pytest.approx(80)
    assert rows[1][at_budget("train_flops", 1)] == pytest.approx(80)


def test_at_a_budget_the_model_of_that_time_is_scored():
    """The second problem spoils the first, but at the budget it was not learnt yet."""
    spoilt = record("a", (0.9, 0.7), (0.5, 0.7), resources={"train_flops": 2e9})
    spoilt["matrix"] = [[0.9], [0.5, 0.7]]
    rows = result_rows([spoilt, record("sa", (0.8, 0.8))])
    assert rows[0][at_budget("train_flops", 1)] == pytest.approx(100 * (0.9 + 0.5) / 2)
    assert rows[0][at_budget("train_flops", 2)] == pytest.approx(60)


def test_without_the_standalone_run_there_is_no_equal_budget():
    (board,) = boards(result_rows([record("a")]))
    assert {cell.text for row in budget_grid(board).rows for cell in row[2:]} == {"–"}


def long(flops):
    found = record("a", [0.9] * len(flops))
    for problem, each in zip(found["problems"], flops, strict=True):
        problem["resources"] = problem["resources"] | {"train_flops": each}
    return found


def test_flops_that_grow_are_all_flops():
    """HOUDINI's many paths without a new module cost validation, and no training."""
    even = long([10.0] * 30)
    validating = long([10.0] * 30)
    for t, problem in enumerate(validating["problems"]):
        problem["resources"] = problem["resources"] | {"inference_flops": 0.0 if t < 15 else 10.0}
    assert growth(read(validating), read(even))["flops_growth"] == pytest.approx(2)


def test_growth_is_relative_to_the_standalone_run():
    easing = [30.0] * 10 + [20.0] * 10 + [10.0] * 10
    linear = [each * (1 + t) for t, each in enumerate(easing)]
    assert growth(read(long(easing)), read(long(easing)))["flops_growth"] == pytest.approx(1)
    expected = geometric_mean(range(21, 31)) / geometric_mean(range(1, 11))
    assert growth(read(long(linear)), read(long(easing)))["flops_growth"] == pytest.approx(expected)
    assert growth(read(long(easing)), None).keys() == {"memory_growth"}
    assert growth(read(long([1.0] * 6)), None) == {}
    late = [0.0] * 20 + [1.0] * 10
    assert growth(read(long(late)), read(long(easing))).keys() == {"memory_growth"}, (
        "no number, not infinity"
    )
    assert growth(read(long(easing)), read(long(late))).keys() == {"memory_growth"}
