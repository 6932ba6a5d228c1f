"""All algorithms run on CTrL as they are; the modular ones in both set-ups."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from msgspec import structs

from bell_bench.harness.context import JobContext
from bell_bench.import_strings import load_object
from bell_bench.modular.training import train
from bell_bench.options import complete
from bell_bench.plugins import registry
from bell_bench_algorithms import bell_bench_algorithms
from bell_bench_algorithms.lmc.options import PUBLISHED
from bell_bench_algorithms.picle.prior import temperature
from tests.modular.making import make_evaluator
from tests.plugins.avalanche.making import make_job

from .fake_images import Loads, sequence, tiny

GRID = ((1e-2, 0.0), (1e-3, 1e-4))


def run(tmp_path, name: str, stream, count: int | None = None):
    """An algorithm after all tasks of a stream, or the first ``count``."""
    spec = registry().algorithm(name).spec
    job = structs.replace(make_job(name), suite="ctrl", sequence=stream.name)
    context = JobContext(
        job, stream.protocol, stream.settings,
        work=tmp_path / "work", evaluations=tmp_path / "evaluations", tell=lambda *_, **__: None,
    )  # fmt: skip
    algorithm = load_object(spec.load)(context, **complete(spec, {}))
    for index in range(count or len(stream)):
        problem = stream.problem(index)
        algorithm.learn(problem)
        scores = algorithm.predict(index, stream.test(index).inputs)
        assert scores.shape == (len(stream.test(index)), problem.classes)
        assert torch.isfinite(scores).all()
    return algorithm


@pytest.mark.slow
@pytest.mark.parametrize("name", [spec.name for spec in bell_bench_algorithms()])
def test_all_algorithms_run_on_ctrl(loads: Loads, tmp_path, name):
    algorithm = run(tmp_path, name, sequence("s_in", scale=tiny()), count=3)
    modular = name not in ("o-ewc", "er", "lmc")
    assert len(algorithm.context.library.solutions) == 3 * modular
    assert algorithm.context.resources()["parameters"] > 0
    assert algorithm.context.charges.updates >= 3


@pytest.mark.slow
def test_lmc_takes_the_streams_own_values_on_ctrl(loads: Loads, tmp_path):
    for name in ("s_in", "s_pl"):
        algorithm = run(tmp_path / name, "lmc", sequence(name, scale=tiny()), count=1)
        assert algorithm.values == PUBLISHED[name]
        widths = [layer.shape.width for layer in algorithm.state.layers.values()]
        assert widths == [4] * 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mntdp-d", "picle"])
def test_ctrl_resnet_runs_with_its_grid_and_augmentation(loads: Loads, tmp_path, name):
    scale = tiny(max_updates=2, grid=GRID, augment=True)
    algorithm = run(tmp_path, name, sequence("s_in", scale=scale, resnet=True), count=3)
    assert [len(s.names) for s in algorithm.context.library.solutions] == [6, 6, 6]


@pytest.mark.slow
def test_heads_of_five_classes_are_reused_in_s_long(loads: Loads, tmp_path):
    algorithm = run(tmp_path, "picle", sequence("s_long", scale=tiny()), count=3)
    paths = [row["path"] for note in algorithm.context.notes for row in note.get("evaluated", ())]
    assert any("·" not in path[-1] and path[-1].endswith(".5") for path in paths)


@pytest.mark.slow
def test_what_picle_keeps_of_a_module_does_not_grow_with_its_inputs(loads: Loads, tmp_path):
    """Widths of 17x17 maps are projected; 40 inputs of 9x9 maps are what a suffix's first module
    keeps. At the paper's width a Gaussian is 20 + 20², and the inputs 40 of 9 x 9 x 64 numbers."""
    scale = tiny(large=(8, 3), width=6)
    algorithm = run(tmp_path, "picle", sequence("s_in", scale=scale), count=1)
    kept = {
        (module.layer, key): attachment.bytes
        for module in algorithm.context.library.modules
        for key, attachment in module.attachments.items()
    }
    gaussian = 8 * (20 + 20**2)
    assert kept == {
        **{(layer, "gaussian"): gaussian for layer in range(5)},
        (2, "inputs"): 4 * 40 * 9 * 9 * 6,
    }


@pytest.mark.parametrize("suite", ["ctrl", "ctrl-resnet"])
def test_picles_temperature_is_the_papers_for_ctrl(suite):
    assert temperature(suite) == 0.6247744509446062


@pytest.mark.slow
def test_settings_with_a_grid_are_part_of_an_evaluations_identity(loads: Loads, tmp_path):
    from bell_bench.modular.path import ModulePath

    stream = sequence("s_pl", scale=tiny())
    problem, path = stream.problem(0), ModulePath.standalone(5)
    trained = []
    for grid in ((), GRID[:1], GRID):
        settings = replace(stream.settings, grid=grid)
        found = make_evaluator(tmp_path, train=train, settings=settings).evaluate(path, problem)
        again = make_evaluator(tmp_path, train=train, settings=settings).evaluate(path, problem)
        assert (found.hit, again.hit) == (False, True)
        assert asdict(again.cost) == asdict(found.cost)
        trained.append(found)
    assert [one.cost.updates for one in trained] == [4, 4, 8]
    assert np.isfinite([one.loss for one in trained]).all()
