"""The baselines of search on the sequences whose problems differ in form: single images before
pairs (S_few), a vector after images (S_sp), and all kinds of problem in one (S_long)."""

from __future__ import annotations

import math

import pytest
import torch

from bell_bench.modular.path import NEW
from tests.plugins.avalanche.making import make_algorithm, tiny

OPTIONS = {"rs": {"trainings": 3, "paths_per_training": 2}}
PROBLEMS = {"S_few": 6, "S_sp": 6, "S_long": 5}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("algorithm", ["rs", "houdini", "mntdp-d"])
def test_every_problem_is_searched_and_solved(algorithm, name, tmp_path):
    sequence = tiny(name, max_updates=3, validate_every=3)
    found, context = make_algorithm(tmp_path, sequence, algorithm, **OPTIONS.get(algorithm, {}))
    for index in range(PROBLEMS[name]):
        problem = sequence.problem(index)
        layers = problem.architecture.modules
        fitting = [{module.name for module in context.library.candidates(spec)} for spec in layers]
        context.begin()
        found.learn(problem)
        scores = found.predict(index, sequence.test(index).inputs)
        assert scores.shape == (len(sequence.test(index)), problem.classes)
        assert torch.isfinite(scores).all()

        paths = [tuple(row["path"]) for note in context.notes for row in note.get("evaluated", ())]
        assert paths[0] == (NEW,) * len(layers)
        assert len(paths) == len(set(paths))
        for path in paths:
            for module, fits in zip(path, fitting, strict=True):
                assert module in {NEW, *fits}
        if algorithm == "houdini":
            all_paths = math.prod(len(fits) + 1 for fits in fitting)
            assert len(paths) == min(2 * len(layers) + index, all_paths)
        elif algorithm == "mntdp-d":
            prefix = fitting.index(set()) if set() in fitting else len(layers)
            assert 1 <= len(paths) <= 1 + prefix
            assert (len(paths) > 1) == (prefix > 0), "S_sp ends with a new input space"
        else:
            assert (len(paths) > 1) == any(fitting)
    assert len(context.library.solutions) == PROBLEMS[name]
