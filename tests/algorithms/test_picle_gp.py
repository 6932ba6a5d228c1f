from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from bell_bench_algorithms.picle import gp
from bell_bench_algorithms.picle.gp import (
    GaussianProcess,
    Prediction,
    expected_improvement,
    make_kernel,
    upper_confidence,
)

PLACES = np.random.RandomState(0).rand(30)
DISTANCES = torch.tensor(np.abs(PLACES[:, None] - PLACES[None]))
OBSERVED, ASKED = [3, 17, 8, 21, 5], [0, 1, 2, 4, 29]
ACCURACIES = [0.71, 0.74, 0.93, 0.70, 0.82]


def compare(process: GaussianProcess, kernel, noise: float, places) -> None:
    """Against scikit-learn, all hyperparameters given."""
    other = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    other.fit(places[OBSERVED], np.array(ACCURACIES) - np.mean(ACCURACIES))
    mean, deviation = other.predict(places[ASKED], return_std=True)
    found = process.predict(ASKED)
    np.testing.assert_allclose(found.mean, mean + np.mean(ACCURACIES), atol=1e-6)
    np.testing.assert_allclose(found.deviation, deviation, atol=1e-6)


@pytest.mark.parametrize("fitted", [False, True])
def test_the_process_is_scikit_learns_on_points_of_a_line(fitted):
    process = GaussianProcess(make_kernel({"l2": DISTANCES}), OBSERVED, ACCURACIES)
    if fitted:
        process.fit()
    scale = process.covar_module
    kernel = ConstantKernel(scale.outputscale.item()) * RBF(scale.base_kernel.lengthscale.item())
    compare(process, kernel, process.likelihood.noise.item(), PLACES[:, None])


def test_a_similarity_kernel_is_scikit_learns_dot_product():
    places = np.random.RandomState(1).standard_normal((30, 4))
    likeness = torch.tensor(places @ places.T)
    process = GaussianProcess(make_kernel({"cov": likeness}), OBSERVED, ACCURACIES)
    constant, similar = process.covar_module.kernels
    share = similar.outputscale.item() / likeness.diagonal().mean().item()
    kernel = ConstantKernel(constant.outputscale.item()) + ConstantKernel(share) * DotProduct(1e-9)
    compare(process, kernel, process.likelihood.noise.item(), places)


def test_fitting_maximises_the_marginal_likelihood_within_the_bounds():
    def likelihood(sigma, gamma, noise):
        kernel = ConstantKernel(sigma**2) * RBF(gamma)
        other = GaussianProcessRegressor(kernel, alpha=noise**2, optimizer=None)
        centred = np.array(ACCURACIES) - np.mean(ACCURACIES)
        return other.fit(PLACES[OBSERVED][:, None], centred).log_marginal_likelihood_value_

    process = GaussianProcess(make_kernel({"l2": DISTANCES}), OBSERVED, ACCURACIES)
    process.fit()
    scale = process.covar_module
    found = likelihood(
        math.sqrt(scale.outputscale.item()),
        scale.base_kernel.lengthscale.item(),
        math.sqrt(process.likelihood.noise.item()),
    )
    usual = float(DISTANCES[torch.ones(30, 30).triu(1).bool()].median())
    grid = [
        likelihood(sigma, gamma * usual, noise)
        for sigma in np.geomspace(*gp.SIGMA, 8)
        for gamma in np.geomspace(*gp.GAMMA, 8)
        for noise in np.geomspace(*gp.NOISE, 4)
    ]
    assert found > max(grid) - 0.05


@pytest.mark.parametrize("accuracies", [(0.7, 0.7), (0.7, 0.71), (0.0, 1.0)])
@pytest.mark.parametrize("kind", ["l2", "pc"])
def test_two_points_are_enough_to_be_well_behaved(accuracies, kind):
    matrix = DISTANCES if kind == "l2" else torch.exp(-DISTANCES)

    def predict():
        process = GaussianProcess(make_kernel({kind: matrix}), [0, 1], accuracies)
        process.fit()
        return process.predict(range(2, 30))

    found, again = predict(), predict()
    assert torch.equal(found.mean, again.mean)
    assert torch.equal(found.deviation, again.deviation)
    assert ((found.mean > -0.5) & (found.mean < 1.5)).all()
    assert ((found.deviation >= 0) & (found.deviation <= 2)).all()
    farthest = DISTANCES[2:, :2].min(1).values.argmax()
    assert found.deviation[farthest] > 0.02  # alike accuracies do not end the search at once


def test_the_same_function_twice_and_no_distance_at_all():
    distances = torch.zeros(4, 4, dtype=torch.float64)
    process = GaussianProcess(make_kernel({"l2": distances}), [0, 1], (0.7, 0.8))
    process.fit()
    found = process.predict([2, 3])
    assert found.mean.tolist() == pytest.approx([0.75, 0.75], abs=1e-3)
    assert found.deviation.isfinite().all()


def test_predictions_at_observed_points_use_true_distances():
    """A cross-covariance with a zeroed diagonal would forget what was observed."""
    process = GaussianProcess(make_kernel({"l2": DISTANCES}), OBSERVED, ACCURACIES)
    found = process.predict([*OBSERVED, 0])
    np.testing.assert_allclose(found.mean[:-1], ACCURACIES, atol=0.02)


def test_upper_confidence_and_expected_improvement_by_hand():
    prediction = Prediction(torch.tensor([0.7, 0.9, 0.5]), torch.tensor([0.1, 0.05, 0.0]))
    prediction = Prediction(prediction.mean.double(), prediction.deviation.double())
    np.testing.assert_allclose(upper_confidence(prediction, 2.0), [0.9, 1.0, 0.5], atol=1e-6)
    found = expected_improvement(prediction, 0.8)
    for value, mean, deviation in zip(found[:2], (0.7, 0.9), (0.1, 0.05), strict=True):
        by_hand = quad(lambda f, m=mean, d=deviation: (f - 0.8) * norm.pdf(f, m, d), 0.8, 2.0)[0]
        assert float(value) == pytest.approx(by_hand, rel=1e-5)
    assert float(found[2]) == 0.0
    certain = Prediction(torch.tensor([0.9]).double(), torch.tensor([0.0]).double())
    assert float(expected_improvement(certain, 0.8)) == pytest.approx(0.1, abs=1e-6)
