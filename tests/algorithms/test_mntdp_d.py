from __future__ import annotations

import numpy as np
import pytest
import torch

from bell_bench.modular import flops
from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.modular.evaluator import Charges
from bell_bench.modular.path import NEW, ModulePath
from bell_bench.problem import Problem, Split
from bell_bench.suites.bell.architecture import architecture
from bell_bench_algorithms.mntdp_d import MNTDPD, fitting
from tests.modular.making import (
    PAIRS,
    SINGLE,
    UPPER,
    FakeContext,
    FakeTrain,
    make_evaluator,
    make_problem,
    make_split,
    solve,
)

VECTORS = Architecture(
    (ModuleSpec("linear", Type("vector", (6,)), UPPER[0].source, "softmax"), *UPPER)
)


class Counting(FakeContext):
    """A context that also counts and charges, as a job's does."""

    def count(self, function):
        return flops.count(function).flops

    def charge(self, **amounts):
        self.evaluator.charges += Charges(**amounts)


class Blind(FakeTrain):
    """Training that learns nothing on some problems: their modules give the same for all inputs."""

    blind: tuple[int, ...] = ()

    def __call__(self, problem, frozen, settings, **rest):
        trained = super().__call__(problem, frozen, settings, **rest)
        if problem.index in self.blind:
            for module in trained.weights.values():
                for tensor in module.values():
                    tensor.zero_()
        return trained


def make(tmp_path, blind=(), k=5):
    train = Blind()
    train.blind = blind
    return MNTDPD(Counting(make_evaluator(tmp_path, train=train)), k=k)


def telling(index, pairs=True, points=40, classes=2):
    """A problem whose labels follow from its images: of which of two kinds are they?"""
    splits = []
    for seed in (2 * index, 2 * index + 1):
        split = make_split(seed, points, pairs)
        kinds = np.arange(len(split.images)) % 2
        images = (split.images / 10 + np.where(kinds, 3, -3)[:, None]).astype(np.float32)
        labels = kinds[split.index].sum(axis=1) % 2
        splits.append(Split(images, split.index, labels=labels.astype(np.int64)))
    network = PAIRS if pairs else SINGLE
    return Problem(index, f"problem {index}", *splits, classes=classes, architecture=network)


def evaluated(algorithm):
    """The paths evaluated for the last problem, as people write them."""
    return [str(ModulePath(tuple(row["path"]))) for row in algorithm.context.notes[-1]["evaluated"]]


def neighbours(algorithm):
    return algorithm.context.notes[-2]["nearest_neighbours"]


@pytest.mark.parametrize(("blind", "nearest"), [((0, 1), 3), ((0, 2), 2), ((1, 2), 1)])
def test_the_solution_whose_features_tell_the_labels_gives_its_prefixes(tmp_path, blind, nearest):
    algorithm = make(tmp_path, blind)
    for index in range(3):
        solve(algorithm.context.evaluator, make_problem(index))
    algorithm.learn(telling(3))
    one, two, three, four = (f"{nearest}.{layer}" for layer in range(1, 5))
    assert evaluated(algorithm) == [
        "· · · ·",
        f"{one} · · ·",
        f"{one} {two} · ·",
        f"{one} {two} {three} ·",
        f"{one} {two} {three} {four}",
    ]
    accuracies = [row["accuracy"] for row in neighbours(algorithm)]
    assert accuracies[nearest - 1] > 0.9
    assert all(accuracies[index] < 0.9 for index in blind)


def test_of_equal_solutions_the_earliest_is_used_and_of_equal_paths_the_earliest(tmp_path):
    algorithm = make(tmp_path, blind=(0, 1))
    for index in range(2):
        solve(algorithm.context.evaluator, make_problem(index))
    algorithm.learn(telling(2))
    first, second = neighbours(algorithm)
    assert first["accuracy"] == second["accuracy"]
    assert evaluated(algorithm)[1] == "1.1 · · ·"
    assert algorithm.solution(2) == ("3.1", "3.2", "3.3", "3.4")


def test_the_first_problem_is_solved_alone(tmp_path):
    algorithm = make(tmp_path)
    algorithm.learn(telling(0))
    assert evaluated(algorithm) == ["· · · ·"]
    assert neighbours(algorithm) == []


def test_the_accuracy_is_that_of_plain_nearest_neighbours(tmp_path):
    algorithm = make(tmp_path, k=3)
    solve(algorithm.context.evaluator, make_problem(0))
    problem = make_problem(2)
    algorithm.learn(problem)
    weights = [algorithm.context.library.weights(f"1.{layer + 1}") for layer in range(3)]

    def below(split):
        images = torch.from_numpy(split.images)
        hidden = torch.relu(images @ weights[0]["weight"] + weights[0]["bias"])
        concept = torch.softmax(hidden @ weights[1]["weight"] + weights[1]["bias"], dim=1)
        both = concept[torch.from_numpy(split.index).long()].flatten(1)
        return torch.relu(both @ weights[2]["weight"] + weights[2]["bias"]).double()

    distances = torch.cdist(below(problem.validation), below(problem.train))
    ordered, nearest = distances.sort(dim=1)
    assert (ordered[:, 3] > ordered[:, 2] + 1e-6).all(), "no ties, or neighbours are not unique"
    found = problem.train.labels[nearest[:, :3]].mean(axis=1) > 0.5
    assert neighbours(algorithm)[0]["accuracy"] == (found == problem.validation.labels).mean()


def test_single_images_lend_their_modules_to_pairs_side_by_side(tmp_path):
    algorithm = make(tmp_path)
    solve(algorithm.context.evaluator, make_problem(0, SINGLE))
    problem = telling(1)
    algorithm.learn(problem)
    assert evaluated(algorithm) == ["· · · ·", "1.1 · · ·", "1.1 1.2 · ·"]
    assert neighbours(algorithm)[0]["modules"] == ["1.1", "1.2"]
    assert neighbours(algorithm)[0]["accuracy"] > 0.9
    features = algorithm._features(PAIRS, ("1.1", "1.2"), problem.train)
    assert features.shape == (len(problem.train), 2 * 3)
    left, right = (
        algorithm._features(
            SINGLE, ("1.1", "1.2"), Split(problem.train.images, column, labels=problem.train.labels)
        )
        for column in np.split(problem.train.index, 2, axis=1)
    )
    assert np.array_equal(features, np.concatenate([left, right], axis=1))


@pytest.mark.parametrize(
    ("own", "pairs", "layers"), [(SINGLE, True, 1), (PAIRS, True, 3), (PAIRS, False, 1)]
)
def test_features_are_those_before_a_last_module(tmp_path, monkeypatch, own, pairs, layers):
    algorithm = make(tmp_path)
    solve(algorithm.context.evaluator, make_problem(0, own))
    original, counts = MNTDPD._features, []
    monkeypatch.setattr(
        MNTDPD, "_features", lambda *args: counts.append(len(args[2])) or original(*args)
    )
    algorithm.learn(telling(1, pairs=pairs, classes=2 if pairs else 3))
    assert counts == [layers, layers]


def test_pairs_lend_their_modules_to_single_images(tmp_path):
    algorithm = make(tmp_path)
    solve(algorithm.context.evaluator, make_problem(0))
    algorithm.learn(telling(1, pairs=False, classes=3))
    assert evaluated(algorithm) == ["· ·", "1.1 ·", "1.1 1.2"]


def test_another_input_space_is_solved_alone_though_upper_modules_fit(tmp_path):
    algorithm = make(tmp_path)
    solve(algorithm.context.evaluator, make_problem(0))
    assert algorithm.context.library.candidates(VECTORS[1])
    algorithm.learn(make_problem(1, VECTORS))
    assert evaluated(algorithm) == ["· · ·"]
    assert neighbours(algorithm) == []
    algorithm.learn(make_problem(2, VECTORS))
    assert [row["problem"] for row in neighbours(algorithm)] == [2]


def test_what_of_bells_solutions_fits_its_other_problems():
    pairs, single, vectors = (
        architecture(space, pairs, width=16, vector_layers=2)
        for space, pairs in (("image", True), ("image", False), ("vector", True))
    )
    names = tuple("abcdefgh")
    assert fitting(names, pairs, pairs) == names
    assert fitting(names, pairs, single) == tuple("abcde")
    assert fitting(names[:5], single, pairs) == tuple("abcde")
    assert fitting(names, pairs, vectors) == ()
    assert fitting(names[:5], vectors, pairs) == ()


def test_a_shared_prefix_is_measured_once_and_its_features_are_charged(tmp_path, monkeypatch):
    algorithm = make(tmp_path)
    evaluator = algorithm.context.evaluator
    solve(evaluator, make_problem(0))
    solve(evaluator, make_problem(1), "1.1", "1.2", "1.3", NEW)
    before, calls = evaluator.charges.inference_flops, []
    original = MNTDPD._features
    monkeypatch.setattr(MNTDPD, "_features", lambda *args: calls.append(args) or original(*args))
    problem = telling(2)
    algorithm.learn(problem)
    first, second = neighbours(algorithm)
    assert first["accuracy"] == second["accuracy"]
    assert len(calls) == 2, "on training and on validation points"
    images, points = 12 + 12, 40 + 40
    expected = 2 * (images * (6 * 5 + 5 * 3) + points * (2 * 3 * 4))
    charged = evaluator.charges.inference_flops - before
    assert charged - 100 * len(evaluated(algorithm)) == expected


def test_fewer_points_than_neighbours_do(tmp_path):
    algorithm = make(tmp_path)
    solve(algorithm.context.evaluator, make_problem(0))
    algorithm.learn(telling(1, points=3))
    assert len(evaluated(algorithm)) == 5
