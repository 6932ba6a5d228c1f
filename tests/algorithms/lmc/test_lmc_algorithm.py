from __future__ import annotations

import json
from dataclasses import astuple, replace

import numpy as np
import pytest
import torch

from bell_bench.errors import Unsupported
from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.options import complete
from bell_bench.plugins import registry
from bell_bench_algorithms.lmc.lmc import LMC
from bell_bench_algorithms.lmc.options import OPTIONS, PUBLISHED, hyperparameters
from tests.algorithms.lmc.making import FakeContext, bars, make_problem, pairs, vectors

PROBLEMS = [
    make_problem(0),
    make_problem(1, points=12, bright=True),
    make_problem(2, points=40, bright=True, shift=1),
]


def learn(problems, context=None, folder=None, **options):
    """One algorithm for all problems, or, if a folder is given, a resumed one for each."""
    context = context or FakeContext()
    algorithm = LMC(context, **options)
    for problem in problems:
        algorithm.learn(problem)
        if folder is not None:
            place = folder / str(problem.index)
            place.mkdir()
            algorithm.save(place)
            algorithm = LMC(context, **options)
            algorithm.load(place)
    return algorithm, context


def test_published_values_by_stream_and_options_over_them():
    assert hyperparameters("s_plus", {"window": None}) == PUBLISHED["s_plus"]
    assert hyperparameters("s_pl", {"window": 7}) == replace(PUBLISHED["s_pl"], window=7)
    for unpublished in ("S_out", "S_long"):
        assert hyperparameters(unpublished, {}) == PUBLISHED["s_long"]


def test_the_published_values():
    """Threshold, temperature and the prior's, regularisation, epochs of projection, how a module
    begins, window, weight decay, epochs."""
    assert {stream: astuple(values) for stream, values in PUBLISHED.items()} == {
        "s_minus": (4, 0.1, 0.1, 10, 20, "mean", 100, 1e-3, 100),
        "s_out": (4, 0.1, 0.1, 10, 20, "mean", 100, 1e-3, 100),
        "s_in": (4, 0.1, 0.1, 10, 20, "most-likely", 100, 1e-3, 100),
        "s_plus": (1.5, 1, 0.1, 10, 5, "most-likely", 100, 1e-3, 100),
        "s_pl": (1.5, 1, 0.1, 10, 10, "most-likely-fresh-statistics", 100, 1e-3, 100),
        "s_long": (4, 1, 0.01, 1, 5, "most-likely", 50, 0, 100),
    }


def test_it_is_registered_with_options_that_default_to_the_streams():
    spec = registry().algorithm("lmc").spec
    assert dict(spec.options) == OPTIONS
    assert set(complete(spec, {}).values()) == {None}


def test_weight_decay_is_lmcs_own():
    context = FakeContext()
    assert LMC(context).settings == replace(context.settings, weight_decay=1e-3)
    assert LMC(context, weight_decay=0.5).settings.weight_decay == 0.5


@pytest.mark.slow
def test_a_resumed_job_gives_the_same_bits(tmp_path):
    through, context = learn(PROBLEMS)
    resumed, again = learn(PROBLEMS, folder=tmp_path)
    for problem in PROBLEMS:
        test = bars(7, 50, bright=problem.index > 0)
        one, two = (a.predict(problem.index, test.inputs) for a in (through, resumed))
        assert torch.equal(one, two)
        assert one.shape == (50, 3)
    assert context.notes == again.notes
    assert context.charges == again.charges
    assert context.stored == again.stored
    assert len(context.notes[1]["lmc"]["added"]) > 0, "else this would test too little"


@pytest.mark.slow
def test_nothing_is_drawn_from_global_state_and_seeds_matter():
    def predictions(seed, global_seed):
        torch.manual_seed(global_seed)
        np.random.seed(global_seed)
        state = torch.random.get_rng_state()
        algorithm, _ = learn(PROBLEMS[:1], FakeContext(seed))
        assert torch.equal(torch.random.get_rng_state(), state)
        return algorithm.predict(0, bars(7, 50, False).inputs)

    first = predictions(0, 0)
    assert torch.equal(first, predictions(0, 1))
    assert not torch.equal(first, predictions(1, 0))


def test_files_are_json_and_safetensors(tmp_path):
    algorithm, _ = learn(PROBLEMS[:1])
    algorithm.save(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["lmc.json", "lmc.safetensors"]
    saved = json.loads((tmp_path / "lmc.json").read_text())
    assert [len(layer["modules"]) for layer in saved["layers"]] == [1, 1]


@pytest.mark.slow
def test_predictions_use_batches_of_the_training_size_in_the_given_order():
    """The prior is of the batch: another batch size is another composition."""
    algorithm, _ = learn(PROBLEMS[:2])
    test = bars(7, 50, True).inputs
    whole = algorithm.predict(1, test)
    assert torch.equal(whole, algorithm.predict(1, test))
    algorithm.settings = replace(algorithm.settings, batch=50)
    assert not torch.equal(whole, algorithm.predict(1, test))


@pytest.mark.slow
def test_cost_and_size_grow_with_modules():
    algorithm, context = learn(PROBLEMS)
    layers = algorithm.state.layers.values()
    modules = [module for layer in layers for module in layer.modules]
    assert len(modules) > 2
    assert context.stored["modules"][1] == sum(
        parameter.numel() for module in modules for parameter in module.parameters()
    )
    assert context.stored["modules"][0] > 4 * context.stored["modules"][1]
    assert context.stored["heads"] == (3 * 4 * 111, 3 * 111)
    for charge in context.charges:
        assert charge["updates"] > 0
        assert charge["train_flops"] > 0
        assert charge["inference_flops"] > 0
    assert context.charges[0]["updates"] == 18, "three batches, six epochs"


@pytest.mark.slow
def test_training_flops_are_of_what_was_run():
    """Twice the epochs, twice the operations, for a first problem without growth."""
    short, long = (learn(PROBLEMS[:1], FakeContext(max_epochs=n))[1] for n in (4, 8))
    ratio = long.charges[0]["train_flops"] / short.charges[0]["train_flops"]
    assert ratio == pytest.approx(2.0, rel=1e-6)


@pytest.mark.slow
def test_notes_tell_additions_and_weights():
    _, context = learn(PROBLEMS)
    json.dumps(context.notes, allow_nan=False)
    note = context.notes[1]["lmc"]
    added = note["added"][0]
    assert set(added) == {"module", "after", "most_likely", "outlier_scores", "kept"}
    assert added["module"].startswith("2.")
    for layer in note["weights"]:
        assert sum(layer.values()) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.slow
def test_pairs_of_images_run_on_bells_convolutions():
    problems = [pairs(0), pairs(1)]
    algorithm, _ = learn(problems, FakeContext(max_epochs=3))
    assert len(algorithm.state.layers) == 2
    scores = algorithm.predict(0, problems[0].validation.inputs)
    assert scores.shape == (20, 2)
    torch.testing.assert_close(scores.sum(1), torch.ones(20))
    assert algorithm.state.heads[1].start == 2


def test_vectors_after_images_get_a_network_of_their_own(tmp_path):
    algorithm, context = learn([pairs(0), vectors(1)], FakeContext(max_epochs=3), tmp_path)
    assert algorithm.state.heads[1].start == 0
    assert algorithm.predict(1, vectors(1).validation.inputs).shape == (20, 3)
    assert context.notes[1]["lmc"]["weights"] == []


def test_residual_networks_are_unsupported():
    stem = ModuleSpec("conv-norm", Type("image", (8, 8, 3)), Type("map", (8, 8, 4)))
    head = ModuleSpec("mean-head", stem.target, Type("answer", (3,)), "softmax")
    problem = replace(PROBLEMS[0], architecture=Architecture((stem, head)))
    algorithm = LMC(FakeContext())
    with pytest.raises(Unsupported, match="conv-norm"):
        algorithm.learn(problem)


def test_a_loss_that_is_no_number_ends_training_with_finite_weights():
    algorithm, context = learn(PROBLEMS[:1], FakeContext(learning_rate=1e30))
    assert context.notes[0]["lmc"]["diverged"]
    assert torch.isfinite(algorithm.predict(0, bars(7, 20, False).inputs)).all()


@pytest.mark.slow
def test_two_easy_problems_are_learnt_and_the_first_is_kept():
    algorithm, context = learn(
        [make_problem(0, points=96), make_problem(1, points=96, bright=True)],
        FakeContext(max_epochs=40),
    )

    def accuracy(index):
        test = bars(50 + index, 200, bright=index == 1)
        return float(
            (algorithm.predict(index, test.inputs).argmax(1).numpy() == test.labels).mean()
        )

    assert accuracy(0) > 0.9
    assert accuracy(1) > 0.9
    assert context.notes[1]["lmc"]["added"]
