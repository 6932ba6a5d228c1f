"""What O-EWC and ER share: batch normalisation, augmentation and grids of learning rates."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import pytest
import torch

from bell_bench.harness.context import JobContext
from bell_bench.import_strings import load_object
from bell_bench.modular.settings import TrainingSettings
from bell_bench.plugins import registry
from bell_bench.problem import Problem
from tests.modular.made_problems import coloured, pairs, residuals
from tests.plugins.avalanche.making import make_job

pytestmark = pytest.mark.slow  # importing Avalanche takes seconds

SETTINGS = TrainingSettings(
    learning_rate=0.01, weight_decay=0.0, optimiser="adam", batch=16, max_updates=48,
    validate_every=16, patience=100,
)  # fmt: skip


def make(name: str, folder: pathlib.Path, settings: TrainingSettings) -> Any:
    spec = registry().algorithm(name).spec
    context = JobContext(
        make_job(name), None, settings, work=folder / "work", evaluations=folder / "evaluations",
        tell=lambda *a, **k: None,
    )  # fmt: skip
    options = {key: option.default for key, option in spec.options.items()}
    return load_object(spec.load)(context, **{**options, **small(options)})


def small(options: dict[str, Any]) -> dict[str, Any]:
    return {key: 6 for key in ("samples", "per_class") if key in options}


def two(make_problem: Any) -> list[Problem]:
    """Problems without rhyme or reason, validated on what is trained on: training is the best."""
    made = [make_problem(4, seed=seed) for seed in (1, 2)]
    return [
        dataclasses.replace(problem, index=index, validation=problem.train, fingerprint="")
        for index, problem in enumerate(made)
    ]


@pytest.mark.parametrize("name", ["o-ewc", "er"])
@pytest.mark.parametrize("kind", [coloured, residuals])
def test_statistics_of_batch_normalisation_are_learnt_saved_and_not_penalised(
    kind: Any, name: str, tmp_path: pathlib.Path
) -> None:
    settings = dataclasses.replace(SETTINGS, augment=True)
    first, second = two(kind)
    algorithm = make(name, tmp_path, settings)
    algorithm.learn(first)
    fresh = make(name, tmp_path, settings)
    fresh.add(0, first.architecture)
    untrained = fresh.model.state_dict()
    learnt = algorithm.model.state_dict()
    statistics = [key for key in learnt if "running" in key]
    assert statistics
    assert any(not torch.equal(learnt[key], untrained[key]) for key in statistics)
    assert not any("running" in key for key in algorithm.kept)
    (tmp_path / "saved").mkdir()
    algorithm.save(tmp_path / "saved")
    resumed = make(name, tmp_path, settings)
    resumed.load(tmp_path / "saved")
    for each in (algorithm, resumed):
        each.learn(second)
    scores = [each.predict(0, first.validation.inputs) for each in (algorithm, resumed)]
    assert torch.equal(*scores)


def test_the_best_of_a_grid_is_kept_and_all_is_charged(tmp_path: pathlib.Path) -> None:
    problem = pairs(4, points=200)
    alone = {}
    for rate in (1e-9, 0.01):
        algorithm = make("er", tmp_path, dataclasses.replace(SETTINGS, grid=((rate, 0.0),)))
        algorithm.learn(problem)
        alone[rate] = algorithm
    settings = dataclasses.replace(SETTINGS, grid=((1e-9, 0.0), (0.01, 0.0)))
    both = make("er", tmp_path, settings)
    both.learn(problem)
    accuracy = {
        rate: each.context.notes[0]["training"]["validation_accuracy"]
        for rate, each in alone.items()
    }
    best = max(accuracy, key=lambda rate: accuracy[rate])
    assert both.context.notes[0]["training"]["validation_accuracy"] == accuracy[best]
    updates = [each.context.charges.updates for each in (both, *alone.values())]
    assert updates[0] == updates[1] + updates[2]
    expected, found = alone[best].model.state_dict(), both.model.state_dict()
    assert all(torch.equal(expected[key], found[key]) for key in expected)
