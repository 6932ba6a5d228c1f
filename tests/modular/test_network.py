"""Features and scores of whole networks, against the plain one."""

import numpy as np
import pytest
import torch
from made_problems import library, pairs, singles, vectors
from reference import PlainNetwork

from bell_bench.modular import network
from bell_bench.modular.network import features, scores

CPU = torch.device("cpu")


def plain_logits(problem, weights):
    inputs = problem.validation
    images = torch.from_numpy(inputs.pixels()).double()
    plain = PlainNetwork(problem.architecture, weights, torch.float64)
    with torch.no_grad():
        return plain(images[torch.from_numpy(inputs.index).long()])


def whole(problem, dtype=torch.float64):
    return library(problem.architecture, range(len(problem.architecture)), dtype)


@pytest.mark.parametrize("make", [pairs, vectors])
def test_scores_of_a_binary_problem_are_two_columns(make):
    problem = make(images=100)
    weights = whole(problem)
    found = scores(
        problem.architecture, weights, problem.validation, device=CPU, dtype=torch.float64
    )
    p = torch.sigmoid(plain_logits(problem, weights))
    torch.testing.assert_close(found, torch.cat([1 - p, p], 1))


def test_scores_of_classes_are_probabilities():
    problem = singles(images=100)
    weights = whole(problem)
    found = scores(
        problem.architecture, weights, problem.validation, device=CPU, dtype=torch.float64
    )
    torch.testing.assert_close(found, torch.softmax(plain_logits(problem, weights), 1))


def test_features_are_per_image_below_the_join_and_per_input_above():
    problem = pairs(images=100)
    weights = whole(problem, torch.float32)
    shapes = [
        tuple(features(problem.architecture, weights, problem.train, n, device=CPU).shape)
        for n in range(9)
    ]
    assert shapes == [
        (100, 28, 28),
        (100, 12, 12, 8),
        (100, 4, 4, 8),
        (100, 64),
        (100, 64),
        (100, 8),
        (100, 64),
        (100, 64),
        (100, 1),
    ]


def test_features_include_activations():
    problem = pairs(images=100)
    weights = whole(problem, torch.float32)
    concept = features(problem.architecture, weights, problem.train, 5, device=CPU)
    torch.testing.assert_close(concept.sum(1), torch.ones(100))
    answers = features(problem.architecture, weights, problem.train, 8, device=CPU)
    columns = scores(problem.architecture, weights, problem.train, device=CPU)
    torch.testing.assert_close(answers[:, 0], columns[:, 1])


def test_features_of_a_single_image_problem_are_per_image_at_every_layer():
    problem = singles(images=100)
    weights = whole(problem, torch.float32)
    found = features(problem.architecture, weights, problem.train, 5, device=CPU)
    assert found.shape == (100, 8)


def test_chunks_do_not_show(monkeypatch):
    problem = pairs(images=100)
    weights = whole(problem)
    options = {"device": CPU, "dtype": torch.float64}
    found = scores(problem.architecture, weights, problem.train, **options)
    monkeypatch.setattr(network, "IMAGES", 7)
    monkeypatch.setattr(network, "ROWS", 9)
    torch.testing.assert_close(
        scores(problem.architecture, weights, problem.train, **options), found
    )


def test_only_the_layers_asked_for_need_weights():
    problem = pairs()
    some = library(problem.architecture, range(2))
    found = features(problem.architecture, some, problem.train, 2, device=CPU)
    assert np.isfinite(found.numpy()).all()
