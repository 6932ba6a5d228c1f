from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bell_bench_algorithms.lmc.outliers import Window


def test_score_is_the_distance_in_standard_deviations():
    window = Window(100, [1.0, 2.0, 3.0, 4.0])
    assert window.score(2.5) == 0.0
    assert window.score(4.5) == pytest.approx(2 / math.sqrt(1.25))
    assert window.score(0.5) == window.score(4.5)


def test_with_two_batches_or_fewer_nothing_is_an_outlier():
    for means in ([], [0.1], [0.1, 0.2]):
        assert Window(100, means).score(1e6) == 0.0
    assert Window(100, [0.1, 0.2, 0.3]).score(1e6) > 4


def test_only_the_last_batches_count():
    window = Window(3, [100.0, 200.0])
    for mean in (1.0, 2.0, 3.0):
        window.add(mean)
    assert window.score(4.0) == pytest.approx(2 / math.sqrt(2 / 3))


def test_a_module_that_never_saw_a_difference_is_sure():
    assert Window(9, [0.5] * 4).score(0.5) == 0.0
    assert Window(9, [0.5] * 4).score(0.6) == math.inf


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=20), st.floats(0.01, 2))
def test_scores_do_not_depend_on_scale(means, mean):
    one, ten = Window(20, means), Window(20, [8 * value for value in means])
    assert one.score(mean) == pytest.approx(ten.score(8 * mean), rel=1e-6, abs=1e-6)
