from __future__ import annotations

import dataclasses
import random
import tracemalloc
from collections import Counter
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bell_bench.modular.path import NEW, ModulePath
from bell_bench.modular.training import train
from bell_bench_algorithms.houdini import Houdini
from bell_bench_algorithms.rs import RandomSearch, random_paths, shuffled
from tests.modular.making import (
    PAIRS,
    SINGLE,
    FakeContext,
    FakeTrain,
    make_evaluator,
    make_problem,
    solve,
)


class Priced(FakeTrain):
    """Training at a price per new module, or free but for the standalone path."""

    price = 100.0
    free = False

    def __call__(self, problem, frozen, settings, **rest):
        new = len(problem.architecture) - len(frozen)
        flops = 0.0 if self.free and frozen else new * self.price
        return dataclasses.replace(
            super().__call__(problem, frozen, settings, **rest), train_flops=flops
        )


def make(tmp_path, train=None, trainings=None, paths_per_training=10):
    context = FakeContext(make_evaluator(tmp_path, train=train or FakeTrain()))
    return RandomSearch(context, trainings=trainings, paths_per_training=paths_per_training)


def learn_after(algorithm, count, architecture=PAIRS):
    """Learn a problem after so many others; gives its paths and its budget."""
    for index in range(count):
        solve(algorithm.context.evaluator, make_problem(index, architecture))
    algorithm.learn(make_problem(count, architecture))
    budget, choice = algorithm.context.notes
    return [ModulePath(tuple(row["path"])) for row in choice["evaluated"]], budget["budget"]


def test_2l_plus_t_trainings_where_all_paths_cost_the_same(tmp_path):
    paths, budget = learn_after(make(tmp_path), 3)
    assert len(paths) == len(set(paths)) == 2 * 4 + 3
    assert paths[0] == ModulePath.standalone(4)
    assert budget == {
        "trainings": 11,
        "train_flops": 11000.0,
        "spent_flops": 11000.0,
        "paths": 11,
        "most_paths": 110,
        "all_paths": 4**4,
    }


@pytest.mark.parametrize("trainings", [1, 2, 5, 9])
def test_a_path_is_begun_only_while_budget_is_left(tmp_path, trainings):
    paths, budget = learn_after(make(tmp_path, Priced(), trainings), 2)
    costs = [100.0 * len(path.new_layers) for path in paths]
    assert sum(costs) == budget["spent_flops"] >= budget["train_flops"] == trainings * 400.0
    assert sum(costs[:-1]) < budget["train_flops"]
    assert len(paths) == budget["paths"] == len(set(paths))


def test_paths_that_cost_nothing_are_bounded_in_number(tmp_path):
    train = Priced()
    train.free = True
    paths, budget = learn_after(make(tmp_path, train, 3, paths_per_training=4), 2)
    assert len(paths) == budget["most_paths"] == 12
    assert budget["spent_flops"] == 400.0 < budget["train_flops"]


def test_a_small_space_is_covered_and_then_it_ends(tmp_path):
    algorithm = make(tmp_path, trainings=100)
    paths, budget = learn_after(algorithm, 2, SINGLE)
    everything = product(["1.1", "2.1", NEW], ["1.2", "2.2", NEW])
    assert sorted(map(str, paths)) == sorted(str(ModulePath(modules)) for modules in everything)
    assert len(paths) == budget["paths"] == budget["all_paths"] == 9
    assert algorithm.context.evaluator.charges.paths_evaluated == 2 + 9


def test_an_empty_library_leaves_the_standalone_path(tmp_path):
    paths, _ = learn_after(make(tmp_path), 0)
    assert paths == [ModulePath.standalone(4)]


def test_a_layer_that_nothing_fits_is_new(tmp_path):
    algorithm = make(tmp_path, trainings=100)
    solve(algorithm.context.evaluator, make_problem(0, SINGLE))
    algorithm.learn(make_problem(1))
    rows = algorithm.context.notes[-1]["evaluated"]
    assert {tuple(row["path"]) for row in rows} == set(
        product(["1.1", NEW], ["1.2", NEW], [NEW], [NEW])
    )


def test_a_job_asks_for_the_same_paths_again_and_another_seed_for_others(tmp_path):
    first, _ = learn_after(make(tmp_path / "first"), 3)
    again, _ = learn_after(make(tmp_path / "again"), 3)
    other = make(tmp_path / "other")
    seeded = other.context.generator
    other.context.generator = lambda *names: seeded().manual_seed(1)
    assert first == again != learn_after(other, 3)[0]


@given(size=st.integers(0, 300), seed=st.integers())
def test_shuffling_gives_each_number_once(size, seed):
    assert sorted(shuffled(size, random.Random(seed))) == list(range(size))


def test_paths_are_uniform_and_independent_but_for_repetition():
    choices = [["a", "b", NEW], ["c", "d", NEW]]
    source = random.Random(0)
    drawn = [tuple(islice(random_paths(choices, source), 3)) for _ in range(56 * 100)]
    for place in range(3):
        counts = Counter(paths[place] for paths in drawn)
        assert len(counts) == 8
        assert chisquare(list(counts.values())).pvalue > 0.01
    counts = Counter(paths[1:] for paths in drawn)
    assert len(counts) == 8 * 7
    assert chisquare(list(counts.values())).pvalue > 0.01


@pytest.mark.parametrize("modules", [5, 59])
def test_large_spaces_are_never_listed(modules):
    choices = [
        [*(f"{problem + 1}.{layer + 1}" for problem in range(modules)), NEW] for layer in range(8)
    ]
    tracemalloc.start()
    paths = random_paths(choices, random.Random(0))
    seen = [hash(path) for path in islice(paths, 1000)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(set(seen)) == 1000
    assert peak < 500_000
    for layer, found in enumerate(zip(*islice(paths, 1000), strict=True)):
        assert set(found) == set(choices[layer])


def test_the_same_path_gives_the_same_number_whichever_algorithm_asks(tmp_path):
    """Each trains for itself, in a store of its own."""
    figures = []
    for kind, options in (
        (Houdini, {"paths": 100}),
        (RandomSearch, {"trainings": 100, "paths_per_training": 1}),
    ):
        context = FakeContext(make_evaluator(tmp_path / kind.__name__, train=train))
        algorithm = kind(context, **options)
        algorithm.learn(make_problem(0))
        algorithm.learn(make_problem(1))
        rows = context.notes[-1]["evaluated"]
        figures.append({tuple(row["path"]): row["accuracy"] for row in rows})
        modules = [module.hash for module in context.library.modules]
        figures[-1]["first network"] = modules[:4]
    assert len(figures[0]) == 2**4 + 1
    assert figures[0] == figures[1]
