from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.modular.network import run_modules
from bell_bench.modular.path import NEW, ModulePath
from bell_bench_algorithms.picle.nt import LatentSearch
from bell_bench_algorithms.picle.options import KERNELS, NTOptions
from bell_bench_algorithms.picle.picle import NTOnly
from bell_bench_algorithms.picle.suffixes import (
    INPUTS,
    Functions,
    fits,
    fitting_suffixes,
    read,
    stored_inputs,
)
from tests.algorithms.picle_context import Counting
from tests.modular.making import (
    CONCEPT,
    PAIRS,
    SINGLE,
    UPPER,
    FakeTrain,
    make_evaluator,
    make_problem,
    solve,
)

VECTORS = Architecture((ModuleSpec("linear", Type("vector", (6,)), CONCEPT, "softmax"), *UPPER))
"""As S_sp's last problem: another input space below the same upper modules."""


def make(tmp_path, problems=4, architecture=PAIRS, **options):
    """NT-only with a library of standalone networks."""
    context = Counting(make_evaluator(tmp_path, train=FakeTrain()))
    algorithm = NTOnly(context, **{"l_min": 2, **options})
    for index in range(problems):
        problem = make_problem(index, architecture)
        context.library.add(
            problem, context.evaluate(ModulePath.standalone(len(architecture)), problem)
        )
        algorithm.remember(problem, context.library.solution(index))
    return algorithm


def score(algorithm, accuracies):
    """Let evaluations have these accuracies by the origin of the path's last module."""
    honest = algorithm.context.evaluate

    def evaluate(path, problem):
        found = honest(path, problem)
        origin = path.modules[-1].partition(".")[0]
        longer = 0.001 * sum(name != NEW for name in path)
        return replace(found, accuracy=accuracies.get(origin, 0.5) + longer)

    algorithm.context.evaluate = evaluate


def names_of(evaluations):
    return [evaluation.path.modules for evaluation in evaluations]


def test_suffixes_are_distinct_and_typed(tmp_path):
    evaluator = make_evaluator(tmp_path)
    solve(evaluator, make_problem(0))
    solve(evaluator, make_problem(1, SINGLE))
    solve(evaluator, make_problem(2), NEW, NEW, "1.3", "1.4")
    solve(evaluator, make_problem(3), NEW, NEW, "1.3", NEW)
    solve(evaluator, make_problem(4, VECTORS))
    library = evaluator.library

    def found(architecture, length):
        return [suffix.names for suffix in fitting_suffixes(library, architecture, length)]

    assert found(PAIRS, 2) == [("1.3", "1.4"), ("1.3", "4.4"), ("5.2", "5.3")]
    assert found(VECTORS, 2) == found(PAIRS, 2)
    assert [s.solution.problem for s in fitting_suffixes(library, PAIRS, 2)] == [0, 3, 4]
    assert found(PAIRS, 3) == [("1.2", "1.3", "1.4"), ("3.2", "1.3", "1.4"), ("4.2", "1.3", "4.4")]
    assert found(VECTORS, 3) == [("5.1", "5.2", "5.3")]
    assert found(SINGLE, 1) == [("2.2",)]
    assert not fits(library.solutions[1], PAIRS, 3)


def test_inputs_are_stored_of_new_modules_that_begin_a_suffix(tmp_path):
    algorithm = make(tmp_path, problems=1, stored_inputs=7)
    library = algorithm.context.library
    with_inputs = [module.name for module in library.modules if module.attachments]
    assert with_inputs == ["1.3"]
    assert library.attached("1.3", INPUTS).shape == (7, 2, 3)
    algorithm = make(tmp_path / "other", problems=1)
    assert len(algorithm.context.library.attached("1.3", INPUTS)) == 40


def outputs(algorithm, suffix, inputs):
    library = algorithm.context.library
    weights = {2 + i: library.weights(name) for i, name in enumerate(suffix.names)}
    return run_modules(PAIRS, weights, inputs, range(2, 4)).double().numpy()


def functions_of(algorithm) -> Functions:
    library = algorithm.context.library
    suffixes = fitting_suffixes(library, PAIRS, 2)
    return Functions(PAIRS, read(library, PAIRS, suffixes), stored_inputs(library, PAIRS, 2))


def test_distances_and_similarities_are_those_of_the_outputs(tmp_path):
    algorithm = make(tmp_path, problems=3)
    library = algorithm.context.library
    suffixes = fitting_suffixes(library, PAIRS, 2)
    functions = functions_of(algorithm)
    inputs = torch.cat([library.attached(f"{i}.3", INPUTS) for i in (1, 2, 3)])
    assert torch.equal(functions.inputs, inputs)
    values = [outputs(algorithm, suffix, inputs)[:, 0] for suffix in suffixes]
    for i, j in itertools.product(range(3), repeat=2):
        apart = np.sqrt(np.mean((values[i] - values[j]) ** 2))
        assert float(functions.distances()[i, j]) == pytest.approx(apart, abs=1e-9)
    np.testing.assert_allclose(functions.similarities("cov"), np.cov(values), atol=1e-12)
    np.testing.assert_allclose(functions.similarities("pc"), np.corrcoef(values), atol=1e-12)


def test_alignment_is_the_mean_cosine_of_gradients(tmp_path):
    algorithm = make(tmp_path, problems=2)
    suffixes = fitting_suffixes(algorithm.context.library, PAIRS, 2)
    functions = functions_of(algorithm)
    library, step = algorithm.context.library, 1e-6

    def gradients(suffix):
        weights = {
            2 + i: {key: value.double() for key, value in library.weights(name).items()}
            for i, name in enumerate(suffix.names)
        }
        z = functions.inputs.double().flatten(1)
        columns = []
        for column in range(z.shape[1]):
            shift = torch.zeros(z.shape[1], dtype=torch.float64)
            shift[column] = step
            both = [
                run_modules(PAIRS, weights, (z + s).clone(), range(2, 4))[:, 0]
                for s in (shift, -shift)
            ]
            columns.append((both[0] - both[1]) / (2 * step))
        found = torch.stack(columns, 1)
        return found / found.norm(dim=1, keepdim=True)

    expected = (gradients(suffixes[0]) * gradients(suffixes[1])).sum(1).mean()
    found = functions.similarities("gpd")
    assert float(found[0, 1]) == pytest.approx(float(expected), abs=1e-4)
    assert found.diagonal().tolist() == pytest.approx([1, 1])


def test_the_most_central_come_first_then_the_process_then_longer_suffixes(tmp_path):
    algorithm = make(tmp_path, problems=4, ei_threshold=0.0)
    score(algorithm, {"3": 0.9})
    distances = functions_of(algorithm).distances()
    central = [f"{i + 1}.4" for i in distances.mean(1).argsort().tolist()]
    found = names_of(algorithm.search(make_problem(4)))
    assert [path[:2] for path in found[:4]] == [(NEW, NEW)] * 4
    assert [path[-1] for path in found[:2]] == central[:2]
    assert {path[-1] for path in found[:4]} == {"1.4", "2.4", "3.4", "4.4"}
    assert found[4:] == [(NEW, "3.2", "3.3", "3.4")]
    told = algorithm.context.notes[-1]["nt"]
    assert told["stopped"] == "all suffixes are evaluated"
    assert told["best"] == ["3.3", "3.4"]
    assert [step["evaluated"][-1] for step in told["steps"]] == [path[-1] for path in found[:4]]
    assert [step["why"] for step in told["steps"]] == ["central first"] * 2 + ["highest UCB"] * 2
    step = told["steps"][2]
    assert len(step["candidates"]) == 2
    for row in step["candidates"]:
        assert row["ucb"] == pytest.approx(row["mean"] + 2 * row["deviation"], abs=1e-5)
    assert step["evaluated"] == max(step["candidates"], key=lambda row: row["ucb"])["suffix"]


def test_it_stops_when_little_improvement_is_expected(tmp_path):
    algorithm = make(tmp_path, problems=6, ei_threshold=10.0)
    found = names_of(algorithm.search(make_problem(6)))
    assert [sum(name != NEW for name in path) for path in found] == [2, 2, 3]
    told = algorithm.context.notes[-1]["nt"]
    assert "is below 10" in told["stopped"]
    assert told["steps"][-1]["evaluated"] is None


def test_c_bounds_the_evaluations_and_is_l_plus_l_min_unless_told(tmp_path):
    algorithm = make(tmp_path, problems=8, ei_threshold=0.0)
    found = names_of(algorithm.search(make_problem(8)))
    assert sum(path[1] == NEW for path in found) == 6
    assert algorithm.context.notes[-1]["nt"]["stopped"] == "c = 6 suffixes are evaluated"
    algorithm = make(tmp_path / "one", problems=3, c=1)
    assert len(names_of(algorithm.search(make_problem(3)))) == 2


def test_random_first_points_follow_the_seed(tmp_path):
    algorithm = make(tmp_path, problems=6, first_points="random")
    order = torch.randperm(6, generator=algorithm.context.generator()).tolist()
    found = names_of(algorithm.search(make_problem(6)))
    assert [path[-1] for path in found[:2]] == [f"{i + 1}.4" for i in order[:2]]


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_searches(tmp_path, kernel):
    algorithm = make(tmp_path, problems=4, kernel=kernel, ei_threshold=0.0)
    score(algorithm, {"2": 0.9, "4": 0.7})
    found = names_of(algorithm.search(make_problem(4)))
    assert {path[-1] for path in found[:4]} == {"1.4", "2.4", "3.4", "4.4"}
    assert found[4:] == [(NEW, "2.2", "2.3", "2.4")]
    json.dumps(algorithm.context.notes, allow_nan=False)


def test_the_first_modules_below_the_join_see_each_image(tmp_path):
    algorithm = make(tmp_path, problems=3, l_min=3, kernel="gpd_l2_pc")
    assert algorithm.context.library.attached("1.2", INPUTS).shape == (40, 2, 5)
    functions = algorithm.searches[0].functions(
        PAIRS, fitting_suffixes(algorithm.context.library, PAIRS, 3)
    )
    weights = {layer: algorithm.context.library.weights(f"1.{layer + 1}") for layer in (1, 2, 3)}
    concepts = [run_modules(PAIRS, weights, functions.inputs[:, i], range(1, 2)) for i in (0, 1)]
    answers = run_modules(PAIRS, weights, torch.stack(concepts, 1), range(2, 4))
    torch.testing.assert_close(functions._outputs[0], answers.double())
    assert len(names_of(algorithm.search(make_problem(3)))) >= 2


def test_a_suffix_of_a_classifier_is_a_function_of_one_image(tmp_path):
    algorithm = make(tmp_path, problems=3, architecture=SINGLE, l_min=1, kernel="gpd")
    assert algorithm.context.library.attached("1.2", INPUTS).shape == (40, 1, 5)
    found = names_of(algorithm.search(make_problem(3, SINGLE)))
    assert sorted(found[:2])[0][0] == NEW


def test_other_input_spaces_reuse_what_fits_and_no_more(tmp_path):
    algorithm = make(tmp_path, problems=2)
    found = names_of(algorithm.search(make_problem(2, VECTORS)))
    assert sorted(found) == [(NEW, "1.3", "1.4"), (NEW, "2.3", "2.4")]
    assert names_of(algorithm.search(make_problem(3, SINGLE))) == []
    stopped = algorithm.context.notes[-1]["nt"]["stopped"]
    assert stopped == "a network of 2 modules has none below a suffix of 2"


def test_nothing_to_reuse_is_no_fault(tmp_path):
    algorithm = make(tmp_path, problems=0)
    assert names_of(algorithm.search(make_problem(0))) == []
    assert "no earlier solution" in algorithm.context.notes[-1]["nt"]["stopped"]


def test_one_candidate_needs_no_process(tmp_path):
    context = Counting(make_evaluator(tmp_path))
    search = LatentSearch(context, NTOptions(l_min=3))
    algorithm = NTOnly(context)
    algorithm.learn(make_problem(0))
    assert names_of(search.search(make_problem(1))) == [(NEW, "1.2", "1.3", "1.4")]
