from __future__ import annotations

import json

import pytest
import torch
from making import SINGLE, FakeContext, FakeTrain, make_evaluator, make_problem

from bell_bench.errors import UsageError
from bell_bench.modular.modular_algorithm import ModularAlgorithm
from bell_bench.modular.path import NEW, ModulePath
from bell_bench_algorithms import bell_bench_algorithms
from bell_bench_algorithms.sa import Standalone


class Listed(ModularAlgorithm):
    """Tries the paths it is told."""

    def search(self, problem):
        for modules in self.options["paths"]:
            yield self.context.evaluate(ModulePath(modules), problem)


def make(tmp_path, accuracies=None, kind=Listed, **options):
    evaluator = make_evaluator(tmp_path, train=FakeTrain(accuracies=accuracies or {}))
    return kind(FakeContext(evaluator), **options)


def test_standalone_adds_a_network_per_problem(tmp_path):
    algorithm = make(tmp_path, kind=Standalone)
    algorithm.learn(make_problem(0))
    algorithm.learn(make_problem(1, SINGLE))
    assert algorithm.solution(0) == ("1.1", "1.2", "1.3", "1.4")
    assert algorithm.solution(1) == ("2.1", "2.2")
    assert algorithm.context.evaluator.charges.paths_evaluated == 2
    with pytest.raises(UsageError, match="problem 3 has no solution"):
        algorithm.solution(2)


def test_the_best_by_validation_wins_and_only_its_new_modules_are_added(tmp_path):
    paths = [("1.1", NEW, NEW, NEW), ("1.1", "1.2", NEW, NEW), (NEW, NEW, NEW, "1.4")]
    algorithm = make(tmp_path, {(0, 1): 0.8, (3,): 0.7}, paths=[])
    algorithm.learn(make_problem(0))
    algorithm.options["paths"] = paths
    algorithm.learn(make_problem(1))
    assert algorithm.solution(1) == ("1.1", "1.2", "2.3", "2.4")
    assert len(algorithm.context.library) == 6
    note = algorithm.context.notes[1]
    assert [row["path"] for row in note["evaluated"]] == [[NEW] * 4, *map(list, paths)]
    assert [row["accuracy"] for row in note["evaluated"]] == [0.5, 0.5, 0.8, 0.7]
    assert note["chosen"]["path"] == list(paths[1])
    assert note["chosen"]["names"] == ["1.1", "1.2", "2.3", "2.4"]
    assert note["chosen"]["why"] == "highest validation accuracy of 4 paths"
    assert algorithm.context.notes[0]["chosen"]["why"] == "the only path evaluated"
    json.dumps(algorithm.context.notes, allow_nan=False)


def test_ties_go_to_the_earliest_and_repeats_count_once(tmp_path):
    algorithm = make(tmp_path, {(0, 1): 0.8, (3,): 0.8}, paths=[])
    algorithm.learn(make_problem(0))
    prefix = ("1.1", "1.2", NEW, NEW)
    algorithm.options["paths"] = [(NEW,) * 4, prefix, (NEW, NEW, NEW, "1.4"), prefix]
    algorithm.learn(make_problem(1))
    chosen = algorithm.context.notes[1]["chosen"]
    assert chosen["path"] == list(prefix)
    assert chosen["why"] == "highest validation accuracy of 3 paths, the earliest of 2 equals"
    assert len(algorithm.context.notes[1]["evaluated"]) == 3


def test_what_later_searches_need_is_remembered_beside_the_modules(tmp_path):
    class Remembering(Standalone):
        def remember(self, problem, solution):
            for name in solution.names:
                self.context.library.attach(name, "seen", torch.tensor(problem.index))

    algorithm = make(tmp_path, kind=Remembering)
    algorithm.learn(make_problem(0))
    assert algorithm.context.library.attached("1.4", "seen") == 0


@pytest.mark.parametrize("architecture", [make_problem().architecture, SINGLE])
def test_predictions_survive_saving_and_loading(tmp_path, architecture):
    algorithm = make(tmp_path, kind=Standalone)
    problem = make_problem(0, architecture)
    algorithm.learn(problem)
    scores = algorithm.predict(0, problem.validation.inputs)
    assert scores.shape == (len(problem.validation), problem.classes)
    (tmp_path / "checkpoint").mkdir()
    algorithm.save(tmp_path / "checkpoint")
    again = make(tmp_path, kind=Standalone)
    again.load(tmp_path / "checkpoint")
    assert torch.equal(again.predict(0, problem.validation.inputs), scores)
    again.learn(make_problem(1))
    assert again.solution(1)[0] == "2.1"


def test_a_resumed_job_goes_on_as_the_uninterrupted_one(tmp_path):
    def modules(algorithm):
        return [item.hash for item in algorithm.context.library.modules]

    whole = make(tmp_path / "whole", kind=Standalone)
    for index in range(3):
        whole.learn(make_problem(index))
    part = make(tmp_path / "part", kind=Standalone)
    part.learn(make_problem(0))
    part.save(tmp_path)
    part.learn(make_problem(1))  # lost: the job ends before it is saved
    resumed = make(tmp_path / "part", kind=Standalone)
    resumed.load(tmp_path)
    for index in (1, 2):
        resumed.learn(make_problem(index))
    assert modules(resumed) == modules(whole)


def test_the_built_in_plugin_yields_sa():
    specs = {spec.name: spec for spec in bell_bench_algorithms()}
    assert specs["sa"].load == "bell_bench_algorithms.sa:Standalone"
