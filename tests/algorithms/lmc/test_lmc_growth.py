"""When modules are added, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from bell_bench.modular.batches import batches
from bell_bench_algorithms.lmc.outliers import Window
from bell_bench_algorithms.lmc.training import Trainer
from tests.algorithms.lmc.making import VALUES, FakeContext, images, make_network, make_problem

QUICK = replace(VALUES, projection_epochs=2, epochs=20)
NOVEL, USUAL = (1e-4, 2e-4, 3e-4), (0.0, 10.0, -10.0)
"""Windows of modules to which any batch, or none, is an outlier."""


def trainer(modules, novel=(), values=QUICK, **settings) -> Trainer:
    """Of a network whose layers in ``novel`` call every batch an outlier."""
    network = make_network(modules, values)
    for number, layer in enumerate(network.layers):
        for module in layer.learnt:
            module.window = Window(100, NOVEL if number in novel else USUAL)
    settings = {"max_epochs": 20, **settings}
    context = FakeContext(**settings)
    return Trainer(network, make_problem(points=40), context.settings, context)


def stream(made: Trainer):
    train = made.problem.train
    return batches(train, torch.from_numpy(train.labels), 16, seed=0, by_image=True)


def counts(made: Trainer) -> list[int]:
    return [len(layer.modules) for layer in made.network.layers]


def test_a_pass_ends_at_the_first_layer_that_every_module_calls_new():
    made = trainer([[True, True], [True]], novel=(0, 1))
    passed = made.network.train(images(), None, 0, growing=True)
    layer, likeliest, scores = passed.due
    assert (layer, likeliest in (0, 1), len(scores)) == (0, True, 2)
    assert passed.layers == []


@pytest.mark.parametrize(
    ("modules", "novel"),
    [([[True], [True]], ()), ([[True, False], [True, False]], (0, 1)), ([[False], [False]], ())],
    ids=["nothing is new", "an unlearnt module is there", "no module is learnt"],
)
def test_not_triggered(modules, novel):
    made = trainer(modules, novel)
    before = counts(made)
    for _, batch in zip(range(3), stream(made), strict=False):
        made.update(batch)
    assert counts(made) == before
    assert made.additions == []


def test_one_module_that_knows_the_batch_is_enough():
    made = trainer([[True, True], [True]], novel=(0,))
    made.network.layers[0].modules[1].window = Window(100, USUAL)
    made.update(next(stream(made)))
    assert counts(made) == [2, 1]


def test_one_addition_per_pass_bottom_up_and_none_while_projecting():
    """Three batches an epoch, two epochs of projection: the second layer's turn comes after six."""
    made = trainer([[True], [True]], novel=(0, 1))
    history = []
    for _, batch in zip(range(8), stream(made), strict=False):
        made.update(batch)
        history.append(counts(made))
    assert history[:6] == [[2, 1]] * 6
    assert history[6:] == [[2, 2]] * 2
    assert [(item.layer, item.updates) for item in made.additions] == [(0, 0), (1, 6)]


def test_one_addition_per_layer_and_problem():
    made = trainer([[True], [True]], novel=(0, 1))
    made.run()
    assert [item.layer for item in made.additions] == [0, 1]
    assert all(count <= 2 for count in counts(made))


def test_without_projection_still_one_per_pass():
    made = trainer([[True], [True]], novel=(0, 1), values=replace(QUICK, projection_epochs=0))
    batch = stream(made)
    made.update(next(batch))
    assert counts(made) == [2, 1]
    made.update(next(batch))
    assert counts(made) == [2, 2]


def test_an_addition_restarts_the_optimiser_and_begins_projection():
    made = trainer([[True], [False]], novel=())
    batch = stream(made)
    made.update(next(batch))
    assert {float(part.optimiser.steps) for part in made.parts} == {1.0}
    made.network.layers[0].modules[0].window = Window(100, NOVEL)
    made.update(next(batch))
    assert made.network.projecting == 0
    by_steps = [float(part.optimiser.steps) for part in made.parts]
    assert by_steps == [1.0, 1.0, 0.0, 1.0, 1.0], "layer 2's functional part is held"
    for _ in range(5):
        made.update(next(batch))
    assert made.network.projecting is None
    made.update(next(batch))
    assert [float(part.optimiser.steps) for part in made.parts] == [7.0, 7.0, 1.0, 7.0, 7.0]


def test_only_modules_in_training_record_batches():
    made = trainer([[True], [False]])
    old, new = made.network.layers[0].modules[0], made.network.layers[1].new
    before = list(old.window.means)
    made.update(next(stream(made)))
    assert list(old.window.means) == before
    assert len(new.window.means) == 1


def test_after_a_problem_all_modules_are_frozen():
    made = trainer([[True], [False]])
    made.run()
    made.network.freeze()
    for layer in made.network.layers:
        assert layer.new is None
        for module in layer.modules:
            assert module.learnt
            assert not module.functional.norm.training
            assert not any(parameter.requires_grad for parameter in module.parameters())
    state = made.network.layers[1].modules[0].state_dict()
    before = {key: value.clone() for key, value in state.items()}
    again = Trainer(made.network, make_problem(1, bright=True), made.settings, made.context)
    again.run()
    after = made.network.layers[1].modules[0].state_dict()
    assert all(torch.equal(after[key], before[key]) for key in before)


def scripted(made: Trainer, accuracies: list[float], monkeypatch) -> list[int]:
    """Let validations find these accuracies in turn; gives when they were made."""
    left, seen = list(accuracies), []

    def measure():
        seen.append(made.schedule.updates)
        assert made.network.projecting is None
        return 1.0, left.pop(0) if left else 0.0

    monkeypatch.setattr(made, "measure", measure)
    return seen


def test_the_best_checkpoint_may_drop_a_module(monkeypatch):
    made = trainer([[True], [True]], max_epochs=6)
    scripted(made, [0.5, 0.9, 0.4], monkeypatch)
    windows = made.network.layers[0].modules[0]
    original = made.validate

    def validate():
        original()
        if made.schedule.updates == 9:
            windows.window = Window(100, NOVEL)

    monkeypatch.setattr(made, "validate", validate)
    best = made.run()
    assert [item.layer for item in made.additions] == [0]
    assert (best.accuracy, best.updates) == (0.9, 6)
    assert counts(made) == [1, 1]


def test_the_best_checkpoint_restores_weights_statistics_and_windows(monkeypatch):
    made = trainer([[False], [False]], max_epochs=3)
    scripted(made, [0.3, 0.9, 0.3], monkeypatch)
    kept = {}
    original = made.validate

    def validate():
        original()
        if made.schedule.updates == 6:
            kept.update(
                state=[
                    {k: v.clone() for k, v in layer.new.state_dict().items()}
                    for layer in made.network.layers
                ],
                head=[p.detach().clone() for p in made.network.head.parameters()],
                window=list(made.network.layers[1].new.window.means),
            )

    monkeypatch.setattr(made, "validate", validate)
    made.run()
    assert made.schedule.updates == 9
    for layer, state in zip(made.network.layers, kept["state"], strict=True):
        assert all(torch.equal(layer.new.state_dict()[key], state[key]) for key in state)
    for now, then in zip(made.network.head.parameters(), kept["head"], strict=True):
        assert torch.equal(now, then)
    assert list(made.network.layers[1].new.window.means) == kept["window"]
    assert len(kept["window"]) == 6


def test_of_equal_checkpoints_the_latest_counts(monkeypatch):
    made = trainer([[False], [False]], max_epochs=3)
    scripted(made, [0.9, 0.9, 0.3], monkeypatch)
    assert made.run().updates == 6


def test_validation_once_per_epoch_and_never_in_projection(monkeypatch):
    made = trainer([[True], [True]], novel=(0,), max_epochs=20)
    seen = scripted(made, [], monkeypatch)
    made.run()
    assert seen == list(range(6, 61, 3))


@pytest.mark.slow
def test_a_problem_of_one_batch_is_trained_the_same_from_what_was_kept(monkeypatch):
    """The frozen layers of a batch that never changes are computed once: nothing else differs."""

    def run(keep: bool):
        network = make_network([[True, True], [True]], QUICK)
        for module in network.layers[0].modules:
            module.window = Window(100, USUAL)
        network.layers[1].modules[0].window = Window(100, NOVEL)
        context = FakeContext(max_epochs=20)
        made = Trainer(network, make_problem(points=12), context.settings, context)
        if not keep:
            made.validation.known = made.train.known = None
            made.fixed = made.validation.fixed()
            for kind in ("Fixed.enter",):
                monkeypatch.setattr(
                    f"bell_bench_algorithms.lmc.splits.{kind}",
                    lambda self, network: (self.x, self.known, 0),
                )
        best = made.run()
        assert [item.layer for item in made.additions] == [1]
        return best, made

    (kept, first), (fresh, second) = run(True), run(False)
    assert first.whole is not None
    assert first.training.flops < second.training.flops
    assert (kept.accuracy, kept.updates) == (fresh.accuracy, fresh.updates)
    for ours, theirs in zip(kept.head.parameters(), fresh.head.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3)
