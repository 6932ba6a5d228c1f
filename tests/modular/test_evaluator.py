from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
import subprocess
import sys
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from making import (
    PAIRS,
    SETTINGS,
    SINGLE,
    FakeTrain,
    make_evaluator,
    make_problem,
    make_trained,
    solve,
)

from bell_bench.errors import UsageError
from bell_bench.memory import PEAK
from bell_bench.modular import evaluator as module
from bell_bench.modular.evaluations import EvaluationStore, StoreWarning
from bell_bench.modular.evaluator import Charges, EvaluationCost, derive_seed
from bell_bench.modular.path import NEW, ModulePath
from bell_bench.modular.training import DivergenceWarning, train

STANDALONE = ModulePath.standalone(4)


def same_weights(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_figures_are_those_of_training_whether_hit_or_not(tmp_path):
    first = make_evaluator(tmp_path).evaluate(STANDALONE, make_problem())
    again = make_evaluator(tmp_path).evaluate(STANDALONE, make_problem())
    assert (first.hit, again.hit) == (False, True)
    for evaluation in (first, again):
        assert evaluation.path == STANDALONE
        assert (evaluation.accuracy, evaluation.loss, evaluation.diverged) == (0.5, 0.7, False)
        cost = dataclasses.replace(evaluation.cost, memory_bytes=0)
        assert cost == EvaluationCost(10, 1000, 100, 3.0, 2.5, 0)
        assert (evaluation.epochs, evaluation.flop_coverage) == (2, 0.9)
        assert evaluation.uncounted == ("aten::relu",)
        assert evaluation.history[1] == (10, 0.7, 0.5)
        assert math.isnan(evaluation.history[0][1])
    for layer in range(4):
        assert same_weights(first.weights(layer), again.weights(layer))


def test_a_hit_is_charged_the_memory_that_training_took(tmp_path):
    def hungry(*args, **rest):
        bytearray(b"x") * (300 * 1024**2)
        return made(*args, **rest)

    made = FakeTrain()
    first = make_evaluator(tmp_path, train=hungry).evaluate(STANDALONE, make_problem())
    assert first.cost.memory_bytes > 200 * 1024**2
    PEAK.restart()
    again = make_evaluator(tmp_path, train=hungry).evaluate(STANDALONE, make_problem())
    assert again.hit
    assert again.cost == first.cost
    assert PEAK.bytes >= first.cost.memory_bytes


def test_every_path_is_charged_hit_or_not_and_the_same_one_once_per_problem(tmp_path):
    first = make_evaluator(tmp_path)
    first.evaluate(STANDALONE, make_problem())
    second = make_evaluator(tmp_path)
    second.evaluate(STANDALONE, make_problem())
    for evaluator, computed in ((first, 1), (second, 0)):
        charges = evaluator.charges
        assert (charges.paths_evaluated, charges.paths_trained) == (1, 1)
        assert charges.paths_computed == computed
        assert (charges.updates, charges.train_flops, charges.inference_flops) == (10, 1000, 100)
        assert (charges.seconds, charges.cpu_seconds) == (3.0, 2.5)
        assert 0 < charges.spent_seconds < 1
    assert second.evaluate(STANDALONE, make_problem()).hit
    assert second.charges == charges
    second.evaluate(STANDALONE, make_problem(1))
    second.evaluate(STANDALONE, make_problem())
    assert second.charges.paths_evaluated == 3


def test_what_is_really_spent_is_told_apart(tmp_path):
    evaluator = make_evaluator(tmp_path, train=FakeTrain(takes=0.2))
    evaluator.evaluate(STANDALONE, make_problem())
    assert 0.2 <= evaluator.charges.spent_seconds < 1
    assert evaluator.charges.spent_cpu_seconds < 0.2


def test_a_refused_or_failed_path_is_not_charged(tmp_path):
    def fail(*_, **__):
        raise MemoryError("no room")

    evaluator = make_evaluator(tmp_path, train=fail)
    with pytest.raises(UsageError, match="names 2 modules"):
        evaluator.evaluate(ModulePath.standalone(2), make_problem())
    with pytest.raises(MemoryError):
        evaluator.evaluate(STANDALONE, make_problem())
    assert evaluator.charges.paths_evaluated == evaluator.charges.paths_computed == 0
    assert evaluator.store.entries() == []


def test_reused_modules_are_handed_to_training_frozen(tmp_path):
    fake = FakeTrain()
    evaluator = make_evaluator(tmp_path, train=fake)
    solve(evaluator, make_problem(0))
    path = ModulePath(("1.1", NEW, NEW, "1.4"))
    evaluation = evaluator.evaluate(path, make_problem(1))
    frozen = fake.calls[-1]["frozen"]
    assert sorted(frozen) == [0, 3]
    assert same_weights(frozen[3], evaluator.library.weights("1.4"))
    assert same_weights(evaluation.weights(0), evaluator.library.weights("1.1"))
    assert evaluation.weights(1).keys() == {"weight", "bias"}


def test_seeds_come_from_the_problem_and_from_the_path(tmp_path):
    fake = FakeTrain()
    evaluator = make_evaluator(tmp_path, train=fake)
    solve(evaluator, make_problem(0))
    evaluator.evaluate(STANDALONE, make_problem(1))
    evaluator.evaluate(ModulePath(("1.1", NEW, NEW, NEW)), make_problem(1))
    make_evaluator(tmp_path, train=fake, seed=1).evaluate(STANDALONE, make_problem(0))
    seeds = [call["seed"] for call in fake.calls]
    assert seeds[1] == seeds[2]
    assert len(set(seeds)) == 3
    assert len({call["init_seed"] for call in fake.calls}) == 4


@settings(max_examples=20, deadline=None)
@given(st.lists(st.one_of(st.integers(), st.text()), max_size=4))
def test_derived_seeds_fit_torch_and_repeat(parts):
    seed = derive_seed(*parts)
    assert seed == derive_seed(*parts)
    torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"protocol": "authors-code"},
        {"dtype": torch.float64},
        {"settings": dataclasses.replace(SETTINGS, batch=9)},
    ],
)
def test_whatever_determines_the_result_belongs_to_the_key(tmp_path, change):
    make_evaluator(tmp_path).evaluate(STANDALONE, make_problem())
    assert not make_evaluator(tmp_path, **change).evaluate(STANDALONE, make_problem()).hit


def test_the_source_of_a_suites_own_kind_belongs_to_the_key(tmp_path, monkeypatch):
    problem = make_problem()
    first, *rest = problem.architecture.modules
    own = dataclasses.replace(first, kind="my_kind:Near")
    architecture = dataclasses.replace(problem.architecture, modules=(own, *rest))
    problem = dataclasses.replace(problem, architecture=architecture)
    keys = set()
    for text in ("before", "after", "after"):
        monkeypatch.setattr(module, "source_hash", lambda load, text=text: text)
        module._source.cache_clear()
        keys.add(make_evaluator(tmp_path).key(STANDALONE, problem))
    module._source.cache_clear()
    assert len(keys) == 2


def test_threads_torch_and_code_belong_to_the_key(tmp_path, monkeypatch):
    make_evaluator(tmp_path).evaluate(STANDALONE, make_problem())
    for owner, name, value in [
        (torch, "get_num_threads", lambda: 77),
        (torch, "__version__", "9.9"),
        (module, "TRAINING_VERSION", 99),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value)
            assert not make_evaluator(tmp_path).evaluate(STANDALONE, make_problem()).hit
    assert make_evaluator(tmp_path).evaluate(STANDALONE, make_problem()).hit


def test_modules_count_by_content_not_by_name(tmp_path):
    """Two jobs whose libraries hold the same module share what was trained on it; else not."""
    path = ModulePath(("1.1", NEW, NEW, NEW))
    hits = []
    for job, origin in enumerate([0, 0, 5]):
        evaluator = make_evaluator(tmp_path / str(job), store=EvaluationStore(tmp_path / "store"))
        origin_problem = dataclasses.replace(make_problem(origin), index=0)
        solve(evaluator, origin_problem)
        hits.append(evaluator.evaluate(path, make_problem(1)).hit)
    assert hits == [False, True, False]


def test_all_frozen_and_other_lengths(tmp_path):
    evaluator = make_evaluator(tmp_path)
    solve(evaluator, make_problem(0, SINGLE))
    names = solve(evaluator, make_problem(1, PAIRS), "1.1", "1.2", NEW, NEW)
    assert solve(evaluator, make_problem(2), *names) == names
    assert len(evaluator.library) == 4


def test_divergence_is_stored_and_warned_of_on_a_hit(tmp_path):
    make_evaluator(tmp_path, train=FakeTrain(diverged=True)).evaluate(STANDALONE, make_problem())
    with pytest.warns(DivergenceWarning, match=r"path «· · · ·» diverged on problem 1 "):
        evaluation = make_evaluator(tmp_path).evaluate(STANDALONE, make_problem())
    assert (evaluation.hit, evaluation.diverged, evaluation.accuracy) == (True, True, 0.0)
    assert evaluation.loss == math.inf


def test_weights_evicted_meanwhile_are_trained_again_and_charged_once(tmp_path):
    evaluator = make_evaluator(tmp_path)
    evaluation = evaluator.evaluate(STANDALONE, make_problem())
    before = evaluation.weights(2)
    evaluator.store.clear()
    assert same_weights(evaluation.weights(2), before)
    assert (evaluator.charges.paths_evaluated, evaluator.charges.paths_computed) == (1, 2)


def test_weights_without_a_store_that_can_be_written(tmp_path):
    (tmp_path / "evaluations").write_text("in the way")
    fake = FakeTrain()
    evaluator = make_evaluator(tmp_path, train=fake)
    with pytest.warns(StoreWarning, match="cannot be written"):
        solve(evaluator, make_problem())
    assert len(evaluator.library) == 4
    assert len(fake.calls) == 1


def test_a_damaged_entry_is_computed_again(tmp_path):
    first = make_evaluator(tmp_path)
    first.evaluate(STANDALONE, make_problem())
    file = first.store.entries()[0].file
    file.write_bytes(file.read_bytes()[:-5])
    second = make_evaluator(tmp_path)
    with pytest.warns(StoreWarning, match="damaged"):
        assert not second.evaluate(STANDALONE, make_problem()).hit
    assert second.charges.paths_computed == 1


def test_tensors_of_any_layout_are_stored(tmp_path):
    shared = torch.arange(12.0).reshape(3, 4)
    weights = {layer: {"weight": shared.t(), "bias": shared[0]} for layer in range(4)}
    evaluator = make_evaluator(tmp_path, train=lambda *_, **__: make_trained(weights=weights))
    evaluation = evaluator.evaluate(STANDALONE, make_problem())
    assert same_weights(evaluation.weights(3), weights[3])


amounts = st.integers(0, 10**15)
charges = st.builds(Charges, **{item.name: amounts for item in dataclasses.fields(Charges)})


@settings(deadline=None)
@given(charges, charges)
def test_charges_add_up_and_survive_json(one, other):
    assert one + other == other + one
    assert one + other - other == one
    assert Charges() + one == one
    assert Charges.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_charges_go_on_after_a_resume(tmp_path):
    evaluator = make_evaluator(tmp_path, charges=Charges(paths_evaluated=5, updates=7))
    evaluator.evaluate(STANDALONE, make_problem())
    assert (evaluator.charges.paths_evaluated, evaluator.charges.updates) == (6, 17)


def learn_two(folder):
    """What a job finds, with real training: hashes, accuracies, and how many paths it trained."""
    evaluator = make_evaluator(folder, train=train)
    solve(evaluator, make_problem(0))
    solve(evaluator, make_problem(1), "1.1", "1.2", NEW, NEW)
    library = evaluator.library
    found = [item.hash for item in library.modules] + [item.accuracy for item in library.solutions]
    return found, evaluator.charges.paths_computed


@pytest.mark.slow
def test_another_process_gets_the_same_bits_from_real_training(tmp_path):
    code = "import json, test_evaluator as t; print(json.dumps(t.learn_two(t.pathlib.Path('.'))))"
    here = {"PYTHONPATH": str(pathlib.Path(__file__).parent)}
    child = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, **here},
    )
    found, trained = json.loads(child.stdout)
    assert trained == 2
    assert learn_two(tmp_path / "elsewhere") == (found, 2)
    assert learn_two(tmp_path) == (found, 0)


def test_real_training_through_the_store(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluator = make_evaluator(tmp_path, train=train)
        names = solve(evaluator, make_problem(0))
        frozen = evaluator.evaluate(ModulePath(names), make_problem(1))
    assert frozen.cost.updates == 0
    assert 0 <= frozen.accuracy <= 1
    assert evaluator.charges.updates > 0
