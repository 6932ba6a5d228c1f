from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bell_bench_algorithms.lmc.weights import (
    SURE,
    log_likelihood,
    log_prior,
    log_weights,
    structural_loss,
    trusting,
)

ERRORS = torch.tensor([[0.1, 0.4], [0.3, 0.2]])
"""Two images, two modules; batch means 0.2 and 0.3."""


def test_likelihood_is_a_softmax_of_log_errors_for_each_image():
    """exp(−log l) = 1/l: at temperature 1 the shares are those of 1/l, at 1/2 those of 1/l²."""
    at_one = torch.tensor([[10 / 12.5, 2.5 / 12.5], [(1 / 0.3) / (1 / 0.3 + 5), 5 / (1 / 0.3 + 5)]])
    torch.testing.assert_close(log_likelihood(ERRORS, 1.0).exp(), at_one)
    at_half = log_likelihood(ERRORS, 0.5).exp()
    torch.testing.assert_close(at_half[0], torch.tensor([100 / 106.25, 6.25 / 106.25]))


def test_prior_is_a_softmax_of_the_log_of_batch_means():
    expected = torch.tensor([5 / (5 + 1 / 0.3), (1 / 0.3) / (5 + 1 / 0.3)])
    torch.testing.assert_close(log_prior(ERRORS, 1.0).exp(), expected)
    squares = torch.tensor([25 / (25 + 1 / 0.09), (1 / 0.09) / (25 + 1 / 0.09)])
    torch.testing.assert_close(log_prior(ERRORS, 0.5).exp(), squares)


def test_weights_are_the_normalised_product():
    """Image 1: likelihood 0.8, 0.2 by prior 0.6, 0.4; image 2: 0.4, 0.6 by the same."""
    weights = log_weights(ERRORS, 1.0, 1.0).exp()
    by_hand = torch.tensor([[0.48 / 0.56, 0.08 / 0.56], [0.24 / 0.48, 0.24 / 0.48]])
    torch.testing.assert_close(weights, by_hand)


def test_prior_depends_on_the_batch_and_so_do_the_weights():
    alone = log_weights(ERRORS[:1], 1.0, 1.0).exp()
    assert not torch.allclose(alone[0], log_weights(ERRORS, 1.0, 1.0).exp()[0])


def test_modules_in_training_are_trusted_with_a_novel_batch():
    seen = trusting(ERRORS, 1)
    assert seen[:, 0].tolist() == ERRORS[:, 0].tolist()
    assert seen[:, 1].tolist() == pytest.approx([SURE, SURE])
    assert log_weights(seen, 1.0, 0.1).exp()[:, 1].min() > 0.999


def test_structural_loss_renormalises_over_the_modules_it_is_given():
    log_w = torch.log(torch.tensor([[0.6, 0.1, 0.3], [0.2, 0.4, 0.4]]))
    errors = torch.tensor([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    whole = (0.6 * 1 + 0.1 * 2 + 0.3 * 4 + 0.2 * 8 + 0.4 * 16 + 0.4 * 32) / 2
    assert float(structural_loss(errors, log_w)) == pytest.approx(whole)
    two = (0.25 * 2 + 0.75 * 4 + 0.5 * 16 + 0.5 * 32) / 2
    assert float(structural_loss(errors[:, 1:], log_w[:, 1:])) == pytest.approx(two)


def test_structural_loss_of_one_module_is_its_mean_error_even_at_no_weight():
    log_w = torch.full((2, 1), -math.inf).clamp_min(-1e4)
    assert float(structural_loss(ERRORS[:, :1], log_w)) == pytest.approx(0.2)


errors_strategy = st.lists(
    st.lists(st.floats(1e-6, 10), min_size=3, max_size=3), min_size=1, max_size=5
)


@given(errors_strategy, st.floats(0.01, 2), st.floats(0.01, 2))
def test_weights_sum_to_one_and_follow_their_modules(rows, temperature, prior_temperature):
    errors = torch.tensor(rows)
    weights = log_weights(errors, temperature, prior_temperature).exp()
    assert torch.isfinite(weights).all()
    torch.testing.assert_close(weights.sum(1), torch.ones(len(rows)))
    order = [2, 0, 1]
    moved = log_weights(errors[:, order], temperature, prior_temperature).exp()
    torch.testing.assert_close(moved, weights[:, order], atol=1e-4, rtol=1e-3)
