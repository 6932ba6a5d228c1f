from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from bell_bench.modular.activations import Activations
from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.modular.network import features
from bell_bench.modular.path import NEW, ModulePath
from bell_bench.problem import Problem, Split
from bell_bench_algorithms.picle.gaussian import loaded
from bell_bench_algorithms.picle.options import PTOptions
from bell_bench_algorithms.picle.picle import PTOnly
from bell_bench_algorithms.picle.prior import log_prior, temperature
from bell_bench_algorithms.picle.pt import GAUSSIAN, PerceptualSearch
from tests.algorithms.picle_context import Counting
from tests.modular.making import (
    LOWER,
    PAIRS,
    SINGLE,
    FakeTrain,
    make_evaluator,
    make_problem,
)

CPU = torch.device("cpu")
THREE = Architecture(
    (
        ModuleSpec("linear", Type("pixel", (6,)), Type("a", (5,))),
        ModuleSpec("linear", Type("a", (5,)), Type("b", (4,))),
        ModuleSpec("linear", Type("b", (4,)), Type("class", (3,)), "softmax"),
    )
)


def shifted_problem(index: int, shift: float, architecture: Architecture) -> Problem:
    """Images around ``shift``, so that problems differ in what their modules receive."""
    problem = make_problem(index, architecture)
    train = problem.train
    split = Split(train.images + np.float32(shift), train.index, labels=train.labels)
    return Problem(
        index=index, name=problem.name, train=split, validation=problem.validation,
        classes=problem.classes, architecture=architecture,
    )  # fmt: skip


def learnt(tmp_path, shifts, architecture, **options) -> PTOnly:
    """A library of standalone networks, one per shift."""
    context = Counting(make_evaluator(tmp_path, train=FakeTrain()))
    algorithm = PTOnly(context, **options)
    for index, shift in enumerate(shifts):
        algorithm.learn(shifted_problem(index, shift, architecture))
    return algorithm


def search_of(algorithm: PTOnly) -> PerceptualSearch:
    (search,) = algorithm.searches
    return search


def test_the_prior_is_a_softmax_of_accuracies():
    found = log_prior([0.70, 0.702, 0.699], 0.001)
    weights = np.exp([0.0, 2.0, -1.0])
    np.testing.assert_allclose(found.exp(), weights / weights.sum())
    assert log_prior([0.1, 1.0], 0.001).isfinite().all()


def test_the_temperature_is_the_suites_unless_told(tmp_path):
    assert temperature("bell") == 0.001
    assert temperature("ctrl") == temperature("ctrl-resnet") == 0.6247744509446062
    context = Counting(make_evaluator(tmp_path))
    assert PerceptualSearch(context, PTOptions()).temperature == 0.001
    assert PerceptualSearch(context, PTOptions(temperature=2.0)).temperature == 2.0
    context.suite = "ctrl"
    assert PerceptualSearch(context, PTOptions()).temperature == 0.6247744509446062


def test_the_shortcut_is_the_full_posterior_of_the_appendix(tmp_path):
    """p(m1) p(m2) p(m3) · p(x|m1) / Σ p(h1|m2')p(m2') · p(h1|m2) / Σ p(h2|m3')p(m3') · p(h2|m3)."""
    ridge, t = 0.01, 0.1
    algorithm = learnt(tmp_path, (0.0, 0.3, 1.0), THREE, k=3, ridge=ridge, temperature=t)
    search, library = search_of(algorithm), algorithm.context.library
    assert len(library) == 9  # no prefix was better than standalone
    problem = shifted_problem(3, 0.2, THREE)
    points = torch.from_numpy(problem.train.index[:, 0]).long()

    def hidden(chosen):
        """What layer ``len(chosen)`` receives, projected, one row per training point."""
        weights = {layer: library.weights(module.name) for layer, module in enumerate(chosen)}
        found = features(THREE, weights, problem.train, len(chosen), device=CPU)[points]
        return found @ search._projection(found.shape[1])

    def likelihood(module, h):
        stored = library.attached(module.name, GAUSSIAN)
        covariance = loaded(stored[1:][None], ridge)[0]
        return multivariate_normal.logpdf(h, stored[0], covariance).sum()

    def prior(module, layer):
        total = sum(math.exp(other.accuracy / t) for other in layer)
        return module.accuracy / t - math.log(total)

    layers = [library.candidates(spec) for spec in THREE.modules]

    def evidence(h, layer):
        return np.logaddexp.reduce([likelihood(m, h) + prior(m, layer) for m in layer])

    def posterior(m1, m2, m3):
        x, h1, h2 = hidden([]), hidden([m1]), hidden([m1, m2])
        priors = sum(prior(m, layer) for m, layer in zip((m1, m2, m3), layers, strict=True))
        first = likelihood(m1, x) - evidence(h1, layers[1])
        second = likelihood(m2, h1) - evidence(h2, layers[2])
        return priors + first + second + likelihood(m3, h2)

    def shortcut(prefix):
        received = Activations(THREE, problem.train, CPU)
        for module in prefix:
            received.extend(library.weights(module.name))
        likelihoods, priors = search.judge(layers[len(prefix)], received)
        return likelihoods + priors

    total = np.logaddexp.reduce([posterior(*modules) for modules in itertools.product(*layers)])
    for m1, m2 in itertools.product(*layers[:2]):
        fast = shortcut((m1, m2)).numpy()
        slow = np.array([posterior(m1, m2, m3) for m3 in layers[2]])
        np.testing.assert_allclose(fast - fast[0], slow - slow[0], rtol=1e-6, atol=1e-6)
        assert fast.argmax() == slow.argmax()
        # normalised, the posterior is the product of each layer's softmax, which notes tell
        parts = [shortcut(()), shortcut((m1,)), shortcut((m1, m2))]
        softmaxes = [torch.log_softmax(part, 0) for part in parts]
        mine = softmaxes[0][layers[0].index(m1)] + softmaxes[1][layers[1].index(m2)] + softmaxes[2]
        np.testing.assert_allclose(mine, slow - total, rtol=1e-6, atol=1e-6)


def test_each_layer_takes_the_module_whose_inputs_were_alike(tmp_path):
    algorithm = learnt(tmp_path, (0.0, 5.0, -5.0), PAIRS)
    for index, (shift, origin) in enumerate([(5.0, "2"), (0.0, "1"), (-5.0, "3")], start=3):
        problem = shifted_problem(index, shift, PAIRS)
        paths = [evaluation.path.modules for evaluation in algorithm.search(problem)]
        names = [f"{origin}.{layer}" for layer in (1, 2, 3, 4)]
        assert paths == [(*names[:n], *[NEW] * (4 - n)) for n in (1, 2, 3, 4)]
        told = algorithm.context.notes[-1]["pt"]
        assert [layer["chosen"] for layer in told["layers"]] == names
        assert told["stopped"] == "all layers have a module"
        for layer in told["layers"]:
            assert sum(row["posterior"] for row in layer["candidates"]) == pytest.approx(1)


def test_alike_modules_are_chosen_by_accuracy(tmp_path):
    def accurate(problem, frozen, settings, **rest):
        trained = FakeTrain()(problem, frozen, settings, **rest)
        return dataclasses.replace(trained, accuracy=0.9 if problem.index == 1 else 0.6)

    context = Counting(make_evaluator(tmp_path, train=accurate))
    algorithm = PTOnly(context)
    algorithm.learn(shifted_problem(0, 0.0, SINGLE))
    library = context.library
    library.add(
        shifted_problem(1, 0.0, SINGLE),
        context.evaluate(ModulePath.standalone(2), shifted_problem(1, 0.0, SINGLE)),
    )
    for layer in (1, 2):  # the very same inputs, so that the prior alone decides
        library.attach(f"2.{layer}", GAUSSIAN, library.attached(f"1.{layer}", GAUSSIAN))
    found = list(algorithm.search(shifted_problem(2, 0.0, SINGLE)))
    assert found[0].path.modules == ("2.1", NEW)


def test_it_stops_at_a_layer_without_modules_of_the_right_type(tmp_path):
    algorithm = learnt(tmp_path, (0.0,), SINGLE)
    paths = [evaluation.path.modules for evaluation in algorithm.search(make_problem(1, PAIRS))]
    assert paths == [("1.1", NEW, NEW, NEW), ("1.1", "1.2", NEW, NEW)]
    assert algorithm.context.notes[-1]["pt"]["stopped"] == "the library has no module for layer 3"
    other = Architecture(
        (ModuleSpec("linear", Type("vector", (6,)), Type("hidden", (5,))), LOWER[1])
    )
    assert list(algorithm.search(make_problem(2, other))) == []


def test_only_new_modules_get_a_gaussian_and_once(tmp_path):
    accuracies = {(0, 1): 0.9}
    context = Counting(make_evaluator(tmp_path, train=FakeTrain(accuracies=accuracies)))
    algorithm = PTOnly(context)
    algorithm.learn(make_problem(0))
    before = {module.name: module.attachments[GAUSSIAN].hash for module in context.library.modules}
    algorithm.learn(make_problem(1))
    assert algorithm.solution(1) == ("1.1", "1.2", "2.3", "2.4")
    for module in context.library.modules:
        assert list(module.attachments) == [GAUSSIAN]
        assert before.get(module.name, module.attachments[GAUSSIAN].hash) == (
            module.attachments[GAUSSIAN].hash
        )
    assert context.library.attached("2.3", GAUSSIAN).shape == (7, 6)


def test_what_it_computes_besides_training_is_charged(tmp_path):
    algorithm = learnt(tmp_path, (0.0,), SINGLE)
    evaluator = algorithm.context.evaluator
    before = evaluator.charges
    assert before.inference_flops - 100 == 2 * 12 * 6 * 5 + _moments(6) + _moments(5)
    list(algorithm.search(shifted_problem(1, 0.0, SINGLE)))
    charged = evaluator.charges.inference_flops - before.inference_flops - 2 * 100
    assert charged == 2 * 12 * 6 * 5 + _moments(6) + _moments(5)


def _moments(width: int, images: int = 12) -> int:
    """Of the mean and the covariance of the images' activations."""
    return 2 * images * width + 2 * images * width * width
