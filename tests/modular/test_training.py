"""TrainAndEvaluate equals the plain reference, ends when it should, and repeats bit for bit."""

import math
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from made_problems import coloured, library, pairs, residuals, singles, vectors
from reference import PlainTraining

from bell_bench.errors import BellBenchError, UsageError
from bell_bench.modular.blocks import Weights
from bell_bench.modular.learner import Learner, initial
from bell_bench.modular.prefix import Budget
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import DivergenceWarning, Trained, deterministic, train, updates
from bell_bench.problem import Problem

CPU = torch.device("cpu")
SETTINGS = TrainingSettings(learning_rate=1e-3, max_updates=50, validate_every=1, select="loss")
PATHS = [
    *((pairs, layers) for layers in ((), (5, 6, 7), (0,), (0, 1), range(5), range(6), range(8))),
    *((singles, layers) for layers in ((), (4,), (0,), (0, 1), range(5))),
    *((vectors, layers) for layers in ((), (2, 3, 4), (0,), range(2), range(5))),
    *((coloured, layers) for layers in ((), (2, 3, 4), (1,), (0,), range(2), range(4), range(5))),
    *((residuals, layers) for layers in ((), (3, 4), range(2), range(4))),
]

QUICK = [
    (pairs, ()), (pairs, (5, 6, 7)), (pairs, (0, 1)), (singles, (0,)), (vectors, (2, 3, 4)),
    (coloured, (1,)), (residuals, (3, 4)),
]  # fmt: skip
"""Those of the paths that are compared in the quick tests, too."""
MARKED = [pytest.param(*path, marks=[] if path in QUICK else [pytest.mark.slow]) for path in PATHS]


def run(problem: Problem, frozen: dict[int, Weights], settings: TrainingSettings, **options):
    return train(problem, frozen, settings, seed=3, init_seed=4, device=CPU, **options)


def same_weights(a: dict[int, Weights], b: dict[int, Weights]) -> bool:
    return a.keys() == b.keys() and all(
        torch.equal(tensor, b[layer][name])
        for layer, module in a.items()
        for name, tensor in module.items()
    )


def same(a: Trained, b: Trained) -> bool:
    return a.history == b.history and same_weights(a.weights, b.weights)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float64, 1e-9), pytest.param(torch.float32, 1e-3, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize(("make", "layers"), MARKED)
def test_50_updates_equal_the_reference(make, layers, dtype, tolerance):
    problem = make()
    frozen = library(problem.architecture, layers, dtype)
    plain = PlainTraining(problem, frozen, SETTINGS, seed=3, init_seed=4, dtype=dtype)
    learner = Learner(problem.architecture, frozen, SETTINGS, init_seed=4, device=CPU, dtype=dtype)
    if learner.new:
        stream = updates(learner, problem.train, SETTINGS.batch, seed=3, budget=Budget(None))
        count = 15 if make is residuals and dtype == torch.float32 else 50  # rounding errors grow
        with deterministic(CPU):
            losses = [float(next(stream)) for _ in range(count)]
        assert losses == pytest.approx([plain.update() for _ in range(count)], rel=tolerance)
    found, expected = learner.snapshot(), plain.weights()
    assert found.keys() == expected.keys()
    for layer, module in found.items():
        for name, tensor in module.items():
            if not drifts(module, name):
                torch.testing.assert_close(
                    tensor, expected[layer][name], rtol=tolerance, atol=tolerance
                )
            elif dtype == torch.float64:
                torch.testing.assert_close(tensor, expected[layer][name], rtol=0, atol=1e-7)


def drifts(module: Weights, name: str) -> bool:
    """Whether plain training moves it by rounding errors alone: a bias below batch normalisation
    has a gradient of zero, which Adam scales up, and the running mean follows it."""
    return "running_mean" in module and name in ("bias", "running_mean")


@pytest.mark.parametrize(("make", "layers"), MARKED)
def test_validations_equal_the_reference(make, layers):
    problem = make()
    frozen = library(problem.architecture, layers, torch.float64)
    settings = replace(SETTINGS, max_updates=6, validate_every=2)
    trained = run(problem, frozen, settings, dtype=torch.float64)
    plain = PlainTraining(problem, frozen, settings, seed=3, init_seed=4, dtype=torch.float64)
    for done, loss, accuracy in trained.history:
        assert (loss, accuracy) == pytest.approx(plain.validate(), rel=1e-9)
        for _ in range(2 if done < trained.updates else 0):
            plain.update()
    assert trained.updates == (6 if plain.new else 0)
    assert len(trained.history) == (4 if plain.new else 1)


def test_adam_equals_the_reference():
    problem = vectors()
    settings = replace(SETTINGS, optimiser="adam", weight_decay=0.01, max_updates=10)
    trained = run(problem, {}, settings, dtype=torch.float64)
    plain = PlainTraining(problem, {}, settings, seed=3, init_seed=4, dtype=torch.float64)
    for _ in range(10):
        plain.update()
    assert trained.history[-1][1] == pytest.approx(plain.validate()[0], rel=1e-9)


ADAM = replace(SETTINGS, optimiser="adam", weight_decay=1e-3)


@pytest.mark.parametrize("layers", [(), range(2), range(4)])
def test_augmented_training_equals_the_reference(layers):
    problem = residuals()
    settings = replace(ADAM, max_updates=6, validate_every=2, augment=True)
    frozen = library(problem.architecture, layers, torch.float64)
    trained = run(problem, frozen, settings, dtype=torch.float64)
    plain = PlainTraining(problem, frozen, settings, seed=3, init_seed=4, dtype=torch.float64)
    for done, loss, accuracy in trained.history:
        assert (loss, accuracy) == pytest.approx(plain.validate(), rel=1e-9)
        for _ in range(2 if done < trained.updates else 0):
            plain.update()
    assert trained.updates == 6


def test_augmentation_of_pairs_is_refused():
    with pytest.raises(BellBenchError, match="single images"):
        run(pairs(), {}, replace(SETTINGS, augment=True))


@pytest.mark.parametrize("select", ["accuracy", "loss"])
def test_the_best_of_a_grid_is_returned_and_ties_go_to_the_first(select):
    problem = vectors()
    settings = replace(ADAM, max_updates=20, validate_every=5, select=select)
    grid = ((1e-6, 0.0), (1e-2, 0.0), (1e-2, 0.0), (1e-3, 1e-3))
    each = [
        run(problem, {}, replace(settings, learning_rate=rate, weight_decay=decay))
        for rate, decay in grid
    ]
    best = max(each, key=lambda one: one.accuracy if select == "accuracy" else -one.loss)
    chosen = run(problem, {}, replace(settings, grid=grid))
    assert same(chosen, best)
    assert (chosen.accuracy, chosen.loss) == (best.accuracy, best.loss)
    assert best is not each[0], "the settings' own rates are not tried beside the grid's"


def test_a_grid_diverges_only_if_all_of_it_does():
    problem, settings = vectors(), replace(SETTINGS, max_updates=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained = run(problem, {}, replace(settings, grid=((1e30, 0.0), (1e-3, 0.0))))
    assert not trained.diverged
    with pytest.warns(DivergenceWarning):
        assert run(problem, {}, replace(settings, grid=((1e30, 0.0), (1e29, 0.0)))).diverged


@pytest.mark.parametrize("make", [coloured, residuals])
@pytest.mark.parametrize("layers", [(0, 2), (2, 3)])
def test_frozen_batch_norm_is_in_evaluation_mode(make, layers):
    """Below new modules and above them: neither weights nor statistics change."""
    problem = make()
    frozen = library(problem.architecture, layers)
    before = {layer: {k: t.clone() for k, t in w.items()} for layer, w in frozen.items()}
    learner = Learner(
        problem.architecture, frozen, ADAM, init_seed=4, device=CPU, dtype=torch.float32
    )
    stream = updates(learner, problem.train, ADAM.batch, seed=3, budget=Budget(None))
    for _ in range(5):
        next(stream)
    for layer in range(4):
        module = learner.weights[layer]
        if layer in layers:
            assert same_weights({layer: module}, {layer: before[layer]})
        else:
            means = [tensor for name, tensor in module.items() if name.endswith("running_mean")]
            assert all((mean != 0).all() for mean in means)


def test_returned_statistics_are_those_of_the_selected_weights():
    problem = coloured(points=60, validation=40)
    trained = run(problem, {}, replace(ADAM, learning_rate=0.01, max_updates=30))
    again = run(problem, trained.weights, SETTINGS)
    assert (again.accuracy, again.loss) == pytest.approx((trained.accuracy, trained.loss))


@pytest.mark.parametrize("make", [pairs, coloured])
@pytest.mark.parametrize("layers", [(), (0, 1), range(4)])
def test_two_trainings_are_bit_identical(make, layers):
    problem = make()
    frozen = library(problem.architecture, layers)
    settings = replace(SETTINGS, max_updates=10)
    first = run(problem, frozen, settings)
    torch.manual_seed(1234)
    np.random.seed(1234)
    assert same(first, run(problem, frozen, settings))


@pytest.mark.slow
def test_another_process_gives_the_same_bits():
    here = Path(__file__).parent
    code = (
        f"import sys; sys.path.insert(0, {str(here)!r}); import test_training as t, torch;"
        "torch.set_num_threads(1); print(t.digest())"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    assert result.stdout.split()[-1] == digest()
    torch.set_num_threads(threads)


def digest() -> str:
    trained = run(pairs(), {}, replace(SETTINGS, max_updates=5))
    values = [float(t.double().sum()).hex() for m in trained.weights.values() for t in m.values()]
    return "|".join(values + [loss.hex() for _, loss, _ in trained.history])


@pytest.mark.parametrize(("make", "layers"), PATHS)
@pytest.mark.parametrize("budget", [0, 60_000])
def test_without_memory_for_features_nothing_changes(make, layers, budget):
    problem = make(images=150)
    frozen = library(problem.architecture, layers)
    settings = replace(SETTINGS, max_updates=3, validate_every=2)
    kept = run(problem, frozen, settings, feature_budget=10**9)
    again = run(problem, frozen, settings, feature_budget=budget)
    assert same(kept, again)
    assert (kept.train_flops, kept.inference_flops) == (again.train_flops, again.inference_flops)


@pytest.mark.parametrize("layers", [(0,), (0, 1), range(5)])
def test_without_memory_nothing_changes_at_the_papers_width(layers):
    problem = pairs(64, images=150)
    frozen = library(problem.architecture, layers)
    settings = replace(SETTINGS, max_updates=3, validate_every=None)
    kept = run(problem, frozen, settings, feature_budget=10**9)
    assert same(kept, run(problem, frozen, settings, feature_budget=0))


def test_the_default_budget_is_at_most_two_gigabytes():
    assert 0 < Budget(None).left <= 2 * 1024**3


def test_ten_points_and_a_batch_larger_than_the_data():
    problem = pairs(points=10, images=20, validation=10)
    trained = run(problem, {}, TrainingSettings(max_epochs=3))
    assert (trained.updates, trained.epochs) == (3, 3)
    assert [updates for updates, _, _ in trained.history] == [0, 1, 2, 3]


def test_the_last_partial_batch_is_kept():
    trained = run(vectors(points=70), {}, TrainingSettings(max_epochs=2))
    assert (trained.updates, trained.epochs) == (6, 2)
    assert [updates for updates, _, _ in trained.history] == [0, 3, 6]


def test_a_limit_within_an_epoch_ends_with_a_validation():
    trained = run(vectors(), {}, TrainingSettings(max_updates=6))
    assert [updates for updates, _, _ in trained.history] == [0, 4, 6]
    assert trained.epochs == 2


def test_patience_ends_a_training_that_does_not_improve():
    settings = TrainingSettings(learning_rate=0.0, weight_decay=0.0, patience=8, max_epochs=100)
    trained = run(vectors(), {}, settings)
    assert trained.updates == 8
    assert len({loss for _, loss, _ in trained.history}) == 1


@pytest.mark.parametrize(("select", "column"), [("accuracy", 2), ("loss", 1)])
def test_the_best_weights_are_selected_and_ties_go_to_the_earliest(select, column):
    problem = singles(points=60, validation=40)
    settings = replace(SETTINGS, learning_rate=0.01, max_updates=40, select=select)
    trained = run(problem, {}, settings)
    best = (max if select == "accuracy" else min)(entry[column] for entry in trained.history)
    chosen = next(entry for entry in trained.history if entry[column] == best)
    assert (trained.loss, trained.accuracy) == chosen[1:]
    until = run(problem, {}, replace(settings, max_updates=chosen[0]))
    assert same_weights(trained.weights, until.weights)


def test_returned_weights_give_the_returned_accuracy():
    problem = singles(points=60, validation=40)
    trained = run(problem, {}, replace(SETTINGS, learning_rate=0.01, select="accuracy"))
    again = run(problem, trained.weights, SETTINGS)
    assert again.accuracy == trained.accuracy
    assert again.updates == 0
    assert again.weights == {}


def test_divergence_scores_zero_with_a_warning():
    problem = vectors()
    with pytest.warns(DivergenceWarning, match="diverged"):
        trained = run(problem, {}, replace(SETTINGS, learning_rate=1e30))
    assert trained.diverged
    assert trained.accuracy == 0.0
    assert trained.loss == math.inf
    assert trained.updates < 50
    assert all(math.isfinite(loss) for _, loss, _ in trained.history)


def test_a_frozen_module_of_nan_scores_zero_without_training():
    problem = vectors()
    frozen = library(problem.architecture, (1,))
    frozen[1]["weight"].fill_(math.nan)
    with pytest.warns(DivergenceWarning):
        trained = run(problem, frozen, SETTINGS)
    assert (trained.diverged, trained.updates, trained.accuracy) == (True, 0, 0.0)
    assert trained.weights.keys() == set(range(len(problem.architecture))) - {1}


def test_initial_weights_depend_on_seed_and_layer_and_are_drawn_from_nothing_else():
    architecture = pairs().architecture
    first = initial(architecture, 6, 1, torch.float32)["weight"]
    torch.manual_seed(0)
    assert torch.equal(first, initial(architecture, 6, 1, torch.float32)["weight"])
    assert not torch.equal(first, initial(architecture, 6, 2, torch.float32)["weight"])
    assert not torch.equal(first, initial(architecture, 3, 1, torch.float32)["weight"])


def test_training_leaves_no_traces():
    problem = vectors()
    frozen = library(problem.architecture, (0,))
    before = {name: tensor.clone() for name, tensor in frozen[0].items()}
    state = torch.get_rng_state()
    run(problem, frozen, replace(SETTINGS, max_updates=3))
    assert all(torch.equal(before[name], tensor) for name, tensor in frozen[0].items())
    assert not any(tensor.requires_grad for tensor in frozen[0].values())
    assert torch.equal(state, torch.get_rng_state())
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("wrong", [{"optimiser": "adamv"}, {"select": "acuracy"}])
def test_unknown_settings_are_refused(wrong):
    with pytest.raises(UsageError, match="did you mean"):
        run(vectors(), {}, replace(SETTINGS, **wrong))
