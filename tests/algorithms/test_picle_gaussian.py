from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from bell_bench.modular.activations import Activations
from bell_bench.modular.network import features
from bell_bench_algorithms.picle.gaussian import Moments, loaded, log_likelihoods, projection
from tests.modular.making import PAIRS, SINGLE, make_evaluator, make_problem, solve

CPU = torch.device("cpu")


def draw(seed: int, points: int, size: int) -> torch.Tensor:
    random = np.random.RandomState(seed)
    mixing = random.standard_normal((size, size))
    return torch.tensor(random.standard_normal((points, size)) @ mixing + random.rand(size))


def test_moments_are_those_of_the_points_as_often_as_they_occur():
    points, counts = draw(0, 7, 3), torch.tensor([1, 4, 0, 2, 1, 1, 3])
    moments = Moments.of(points.float(), counts)
    repeated = points.float().double().repeat_interleave(counts, dim=0).numpy()
    assert moments.count == 12
    np.testing.assert_allclose(moments.mean, repeated.mean(0))
    np.testing.assert_allclose(moments.covariance, np.cov(repeated.T))
    assert moments.covariance.dtype == torch.float64


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), size=st.integers(1, 20), points=st.integers(2, 60))
def test_summed_log_densities_are_scipys(seed, size, points):
    ridge, counts = 1e-4, torch.ones(points)
    seen = draw(seed, points, size)
    known = [Moments.of(draw(seed + i, 40, size), torch.ones(40)) for i in (1, 2, 3)]
    found = log_likelihoods(
        torch.stack([gaussian.tensor() for gaussian in known]), Moments.of(seen, counts), ridge
    )
    for value, gaussian in zip(found, known, strict=True):
        covariance = loaded(gaussian.covariance[None], ridge)[0]
        expected = multivariate_normal.logpdf(seen, gaussian.mean, covariance).sum()
        assert float(value) == pytest.approx(expected, rel=1e-8)


def test_the_ridge_is_relative_to_the_mean_variance():
    covariance = torch.diag(torch.tensor([1.0, 3.0], dtype=torch.float64))
    both = torch.stack([covariance, 100 * covariance])
    np.testing.assert_allclose(loaded(both, 0.1)[0], [[1.2, 0], [0, 3.2]])
    np.testing.assert_allclose(loaded(both, 0.1)[1], [[120, 0], [0, 320]])


@pytest.mark.parametrize("case", ["two softmaxes", "ten points", "all the same"])
def test_degenerate_inputs_have_finite_densities(case):
    random = np.random.RandomState(0)
    softmaxes = torch.softmax(torch.tensor(random.standard_normal((200, 2, 8))), dim=2).flatten(1)
    points = {
        "two softmaxes": softmaxes,
        "ten points": softmaxes[:10],
        "all the same": torch.ones(9, 16, dtype=torch.float64),
    }[case]
    gaussian = Moments.of(points, torch.ones(len(points)))
    seen = Moments.of(softmaxes, torch.ones(200))
    assert log_likelihoods(gaussian.tensor()[None], seen, 1e-6).isfinite().all()


def test_only_wider_inputs_are_projected_and_lengths_are_kept_on_average():
    assert projection(20, 20, torch.Generator()) is None
    matrix = projection(784, 20, torch.Generator().manual_seed(1))
    assert torch.equal(matrix, projection(784, 20, torch.Generator().manual_seed(1)))
    points = torch.tensor(np.random.RandomState(0).standard_normal((500, 784))).float()
    ratio = (points @ matrix).norm(dim=1).square().mean() / points.norm(dim=1).square().mean()
    assert float(ratio) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("architecture", [PAIRS, SINGLE])
@pytest.mark.parametrize("room", [0, 10**9])
def test_activations_are_the_features_of_the_prefix(tmp_path, architecture, room):
    evaluator, problem = make_evaluator(tmp_path), make_problem(0, architecture)
    names = solve(evaluator, problem)
    weights = [evaluator.library.weights(name) for name in names]
    received = Activations(architecture, problem.train, CPU, room)
    index = torch.from_numpy(problem.train.index).long()
    for layer in range(len(architecture)):
        if layer:
            received.extend(weights[layer - 1])
        expected = features(
            architecture, dict(enumerate(weights)), problem.train, layer, device=CPU
        )
        counts = torch.ones(len(index))
        if layer == architecture.joint:
            expected = expected[index]
        if layer < architecture.joint:
            counts = torch.bincount(index.flatten(), minlength=12)
        found = received.through(torch.clone)
        torch.testing.assert_close(found, expected)
        assert torch.equal(received.counts, counts.double())
        assert received.width == found[0].numel()


def test_stored_inputs_are_drawn_from_what_the_layer_receives(tmp_path):
    evaluator, problem = make_evaluator(tmp_path), make_problem(0)
    received = Activations(PAIRS, problem.train, CPU)
    pairs = torch.from_numpy(problem.train.images[problem.train.index])

    def drawn(count):
        return received.sample(count, torch.Generator().manual_seed(0))

    assert drawn(1000).shape == (40, 2, 6)
    assert all((pairs == one).flatten(1).all(1).any() for one in drawn(15))
    for name in solve(evaluator, problem)[:2]:
        received.extend(evaluator.library.weights(name))
    everything = received.through(torch.clone)
    assert drawn(15).shape == (15, 2, 3)
    assert all((everything == one).flatten(1).all(1).any() for one in drawn(15))
    assert torch.equal(drawn(15), drawn(15))
