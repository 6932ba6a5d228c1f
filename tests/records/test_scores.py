"""The paper's metrics on examples worked out by hand."""

from __future__ import annotations

import pytest

from bell_bench.records import JobAccuracies
from bell_bench.records import scores as metrics


def test_three_problems_by_hand():
    learnt, final, standalone = [0.90, 0.80, 0.70], [0.60, 0.75, 0.70], [0.90, 0.78, 0.55]
    of = JobAccuracies(final, learnt, standalone)
    assert metrics.average_accuracy(of) == pytest.approx((60 + 75 + 70) / 3)
    assert metrics.forgetting(of) == pytest.approx((-30 - 5 + 0) / 3)
    assert metrics.last_transfer(of) == pytest.approx(15)
    assert metrics.backward_transfer(of) == pytest.approx(-30)


def test_a_modular_algorithm_neither_forgets_nor_improves():
    final = [0.5, 0.75, 0.875]
    of = JobAccuracies(final, final)
    assert metrics.forgetting(of) == 0
    assert metrics.backward_transfer(of) == 0


def test_backward_transfer_is_the_first_problems_gain():
    assert metrics.backward_transfer(JobAccuracies([0.9, 0.6], [0.7, 0.6])) == pytest.approx(20)


@pytest.mark.parametrize("other", ["learnt", "standalone"])
def test_unequal_or_empty_lists_are_refused(other):
    with pytest.raises(ValueError, match="as many"):
        JobAccuracies(**{"final": [0.5], "learnt": [0.5], other: [0.5, 0.6]})
    with pytest.raises(ValueError, match="as many"):
        JobAccuracies(**{"final": [], "learnt": [], other: []})
