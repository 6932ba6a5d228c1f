"""Intervals: what they must hold for any values, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bell_bench_leaderboard.bootstrap import estimate, student

VALUES = arrays(float, st.integers(2, 6), elements=st.floats(-100, 100, width=32))


@settings(deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=4))
def test_the_mean_lies_in_its_interval(strata):
    found = estimate(strata)
    assert found.mean == pytest.approx(np.mean([values.mean() for values in strata]))
    assert found.low <= found.mean + 1e-9
    assert found.high >= found.mean - 1e-9
    assert found.n == min(map(len, strata))


@settings(deadline=None)
@given(VALUES, st.floats(-50, 50, width=32), st.sampled_from([0.5, 2.0, 4.0]))
def test_an_interval_moves_and_grows_with_its_values(values, shift, factor):
    one, two = estimate([values]), estimate([factor * values + shift])
    assert two.low == pytest.approx(factor * one.low + shift, abs=1e-6)
    assert two.high == pytest.approx(factor * one.high + shift, abs=1e-6)


@settings(deadline=None)
@given(VALUES)
def test_a_higher_level_is_wider_and_the_same_call_gives_the_same(values):
    one, two = estimate([values]), estimate([values], level=0.999)
    assert two.low <= one.low + 1e-9
    assert two.high >= one.high - 1e-9
    assert estimate([values]) == one


def test_one_realisation_has_no_interval_wherever_it_is():
    assert estimate([np.array([1.0])]).interval is None
    assert estimate([np.array([1.0, 2.0]), np.array([1.0])]).interval is None


def test_equal_values_have_an_interval_of_no_width():
    assert estimate([np.zeros(3), np.full(3, 2.0)]).interval == (1.0, 1.0)


def test_a_symmetric_sample_gets_students_interval():
    values = np.array([-1.0, 0.0, 1.0])
    found = estimate([values])
    half = 4.302653 * values.std(ddof=1) / np.sqrt(3)
    assert found.high - found.low == pytest.approx(2 * half, rel=1e-5)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("freedom", [1.0, 1.3, 2.0, 2.7, 4.0, 18.5, 200.0, 1e5])
def test_students_quantile_is_scipys(freedom, level):
    from scipy.special import stdtrit

    assert student(freedom, level) == pytest.approx(stdtrit(freedom, (1 + level) / 2), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("realisations", "sequences", "shared"), [(3, 1, 0), (3, 9, 0), (5, 2, 0), (3, 5, 2), (5, 5, 2)]
)
def test_the_truth_is_held_as_often_as_is_said(realisations, sequences, shared):
    """``shared``: how much of a realisation all sequences have in common, as CTrL's streams do."""
    random = np.random.RandomState(1)
    found = []
    for _ in range(600):
        values = random.normal(size=(sequences, realisations))
        values += shared * random.normal(size=realisations)
        draws = [range(realisations)] * sequences if shared else None
        found.append(estimate(list(values), draws))
    held = np.mean([each.low <= 0 <= each.high for each in found])
    assert 0.92 <= held <= 0.98


def test_sequences_of_one_draw_are_drawn_together():
    one, two = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])
    three = np.array([5.0, 6.0, 7.0])
    apart, beside = (estimate([one, two, three], draws) for draws in (None, ["abc", "abc", "def"]))
    assert apart.mean == beside.mean == pytest.approx(10 / 3)
    assert beside.interval != apart.interval
    alone = estimate([three])
    width = (alone.high - alone.low) / 3  # what one rises by, two falls by: they cancel out
    assert beside.high - beside.low == pytest.approx(width, rel=1e-6)


def test_fewer_realisations_make_nothing_surer():
    """As where one job of one of two sequences is missing, or one has realisations more."""
    values = np.array([20.0, 50.0, 80.0])
    whole = estimate([values, values], ["abc", "abc"])
    part = estimate([values, values[:2]], ["abc", "ab"])
    assert part.high - part.low > 0.7 * (whole.high - whole.low)  # apart: 0.5


def test_nothing_has_no_mean():
    with pytest.raises(ValueError, match="at least one"):
        estimate([])
