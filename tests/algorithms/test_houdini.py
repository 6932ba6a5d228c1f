from __future__ import annotations

from itertools import islice, product
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.modular.path import NEW, ModulePath
from bell_bench_algorithms.houdini import Houdini
from tests.modular.making import (
    PAIRS,
    SINGLE,
    FakeContext,
    FakeTrain,
    make_evaluator,
    make_problem,
    solve,
)

FIVE = Architecture(
    tuple(
        ModuleSpec("linear", Type(f"type{i}", (6 if i == 0 else 3,)), Type(f"type{i + 1}", (3,)))
        for i in range(5)
    )
)


def make(tmp_path, accuracies=None, paths=None):
    evaluator = make_evaluator(tmp_path, train=FakeTrain(accuracies=accuracies or {}))
    return Houdini(FakeContext(evaluator), paths=paths)


def evaluated(algorithm):
    """The paths evaluated for the last problem, as people write them."""
    return [str(ModulePath(tuple(row["path"]))) for row in algorithm.context.notes[-1]["evaluated"]]


def test_the_first_13_paths_of_five_layers_with_three_modules_each(tmp_path):
    algorithm = make(tmp_path)
    for index in range(3):
        solve(algorithm.context.evaluator, make_problem(index, FIVE))
    algorithm.learn(make_problem(3, FIVE))
    assert evaluated(algorithm) == [
        "· · · · ·",
        "1.1 1.2 1.3 1.4 1.5",
        "1.1 1.2 1.3 1.4 2.5",
        "1.1 1.2 1.3 1.4 3.5",
        "1.1 1.2 1.3 1.4 ·",
        "1.1 1.2 1.3 2.4 1.5",
        "1.1 1.2 1.3 2.4 2.5",
        "1.1 1.2 1.3 2.4 3.5",
        "1.1 1.2 1.3 2.4 ·",
        "1.1 1.2 1.3 3.4 1.5",
        "1.1 1.2 1.3 3.4 2.5",
        "1.1 1.2 1.3 3.4 3.5",
        "1.1 1.2 1.3 3.4 ·",
    ]


def test_a_small_space_is_exhausted_and_the_standalone_path_evaluated_once(tmp_path):
    algorithm = make(tmp_path)
    algorithm.learn(make_problem(0, SINGLE))
    assert evaluated(algorithm) == ["· ·"]
    algorithm.learn(make_problem(1, SINGLE))
    assert evaluated(algorithm) == ["· ·", "1.1 1.2", "1.1 ·", "· 1.2"]
    assert algorithm.context.evaluator.charges.paths_evaluated == 5


def test_a_layer_that_nothing_fits_is_new(tmp_path):
    algorithm = make(tmp_path)
    solve(algorithm.context.evaluator, make_problem(0, SINGLE))
    algorithm.learn(make_problem(1, PAIRS))
    assert evaluated(algorithm) == ["· · · ·", "1.1 1.2 · ·", "1.1 · · ·", "· 1.2 · ·"]


def test_of_equals_the_earliest_wins(tmp_path):
    algorithm = make(tmp_path, {(0, 1): 0.7, (0,): 0.7})
    algorithm.learn(make_problem(0, SINGLE))
    algorithm.learn(make_problem(1, SINGLE))
    assert algorithm.solution(1) == ("1.1", "1.2")


def test_the_number_of_paths_can_be_set(tmp_path):
    algorithm = make(tmp_path, paths=2)
    algorithm.learn(make_problem(0))
    algorithm.learn(make_problem(1))
    assert evaluated(algorithm) == ["· · · ·", "1.1 1.2 1.3 1.4"]


@given(
    counts=st.lists(st.integers(0, 59), min_size=1, max_size=8),
    solved=st.integers(0, 59),
    paths=st.none() | st.integers(1, 100),
)
def test_the_first_paths_in_order_whatever_the_library(counts, solved, paths):
    """Also of a library of 60 problems, whose space nobody could list."""
    fitting = {
        layer: [f"{problem + 1}.{layer + 1}" for problem in range(count)]
        for layer, count in enumerate(counts)
    }
    library = SimpleNamespace(
        solutions=[None] * solved,
        candidates=lambda layer: [SimpleNamespace(name=name) for name in fitting[layer]],
    )
    problem = SimpleNamespace(architecture=SimpleNamespace(modules=range(len(counts))))
    foreseen = []
    context = SimpleNamespace(
        library=library,
        evaluate=lambda path, problem: path,
        prefetch=lambda paths, problem: foreseen.extend(paths),
    )
    found = list(Houdini(context, paths=paths).search(problem))
    assert foreseen == found
    limit = 2 * len(counts) + solved if paths is None else paths
    everything = product(*([*names, NEW] for names in fitting.values()))
    standalone = ModulePath.standalone(len(counts))
    assert found == [
        path for path in map(ModulePath, islice(everything, limit - 1)) if path != standalone
    ]
