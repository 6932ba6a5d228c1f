"""Where the structural loss may reach, outside projection and in it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from bell_bench_algorithms.lmc.parameter_groups import ParameterGroup, gradients, parts
from bell_bench_algorithms.lmc.weights import log_weights
from tests.algorithms.lmc.making import SETTINGS, VALUES, images, make_network

SOFT = replace(VALUES, temperature=1.0, prior_temperature=1.0, regularisation=3.0)
LABELS = torch.tensor([0, 1, 2, 0, 1, 2])
MEMBERS = torch.arange(6)[:, None]


def found(network, reg=3.0, task=1.0):
    passed = network.train(images(), None, 0, growing=False)
    loss = functional.cross_entropy(network.head.logits(passed.output, MEMBERS), LABELS)
    return gradients(network, passed, task * loss, reg)


def projected(modules, layer=0, values=SOFT):
    network = make_network(modules, values)
    network.projecting = layer
    network.set_mode(True)
    return network


def plain(modules, values=SOFT):
    network = make_network(modules, values)
    network.set_mode(True)
    return network


def reference(network, project: bool):
    """Task loss and both layers' S, written out by autograd with the weights held fixed."""
    x, losses = images(), []
    for number, layer in enumerate(network.layers):
        maps = [module.functional(x) for module in layer.modules]
        columns = []
        for module, y in zip(layer.modules, maps, strict=True):
            heard = y if module.learnt or (project and number > 0) else y.detach()
            columns.append(module.errors(heard, x))
        errors = torch.stack(columns, 1)
        w = log_weights(errors.detach(), 1.0, 1.0).exp()
        losses.append((w * errors).sum(1).mean() if project else errors[:, -1].mean())
        x = sum(w[:, i].view(-1, 1, 1, 1) * y for i, y in enumerate(maps))
    task = functional.cross_entropy(network.head.logits(x, MEMBERS), LABELS)
    return task, losses


def grads(loss, module):
    return torch.autograd.grad(
        loss, list(module.parameters()), retain_graph=True, allow_unused=True
    )


def assert_same(ours, module, theirs):
    for parameter, expected in zip(module.parameters(), theirs, strict=True):
        torch.testing.assert_close(ours[parameter], expected, atol=1e-6, rtol=1e-4)


def unless_novel(monkeypatch):
    """Weights as inferred, whatever the random modules think of the batch."""
    monkeypatch.setattr("bell_bench_algorithms.lmc.layer.Examined.novel", lambda *_: False)


def test_outside_projection_the_structural_loss_trains_decoders_alone(monkeypatch):
    unless_novel(monkeypatch)
    network = plain([[True, False], [True, False]])
    ours = found(network)
    twin = plain([[True, False], [True, False]])
    task, losses = reference(twin, project=False)
    for layer, other, loss in zip(network.layers, twin.layers, losses, strict=True):
        assert_same(ours, layer.new.functional, grads(task, other.new.functional))
        assert_same(ours, layer.new.structural, grads(3.0 * loss, other.new.structural))


@pytest.mark.parametrize("above", [[True, True], [True, False]], ids=["frozen", "frozen and new"])
def test_in_projection_a_module_hears_of_the_errors_above_through_the_modules(monkeypatch, above):
    unless_novel(monkeypatch)
    network = projected([[True, False], above])
    ours = found(network)
    twin = projected([[True, False], above])
    task, (first, second) = reference(twin, project=True)
    lower, other = network.layers[0].new, twin.layers[0].new
    assert_same(ours, lower.functional, grads(task + 3.0 * second, other.functional))
    assert_same(ours, lower.structural, grads(3.0 * first, other.structural))
    alone = grads(task, other.functional)
    assert any(
        not torch.allclose(ours[parameter], gradient, atol=1e-5)
        for parameter, gradient in zip(lower.functional.parameters(), alone, strict=True)
    ), "the layer above must matter"


def test_frozen_modules_above_get_no_gradient_and_do_not_change(monkeypatch):
    unless_novel(monkeypatch)
    network = projected([[True, False], [True]])
    above = network.layers[1].modules[0]
    before = {key: value.clone() for key, value in above.state_dict().items()}
    trained = parts(network, SETTINGS)
    ours = found(network)
    assert not any(parameter in ours for parameter in above.parameters())
    for part in trained:
        part.step(ours)
    assert all(torch.equal(value, before[key]) for key, value in above.state_dict().items())


def test_in_projection_functional_parts_above_are_held_decoders_are_not(monkeypatch):
    unless_novel(monkeypatch)
    network = projected([[True, False], [True, False]])
    trained = parts(network, SETTINGS)
    lower, upper = network.layers[0].new, network.layers[1].new
    before = {id(p): p.detach().clone() for m in (lower, upper) for p in m.parameters()}
    statistics = upper.functional.norm.running_mean.clone()
    ours = found(network)
    for part in trained:
        part.step(ours)

    def moved(module):
        return [not torch.equal(p, before[id(p)]) for p in module.parameters()]

    assert not any(moved(upper.functional))
    assert torch.equal(upper.functional.norm.running_mean, statistics)
    assert all(moved(upper.structural))
    assert all(moved(lower.functional))
    network.projecting = None
    network.set_mode(True)
    assert all(parameter.requires_grad for parameter in upper.parameters())
    assert upper.functional.norm.training


def test_weights_pass_no_gradient_to_decoders():
    """Without the structural loss a decoder learns nothing: w is inferred, not trained."""
    network = plain([[True, False], [True, False]])
    ours = found(network, reg=0.0)
    for layer in network.layers:
        for parameter in layer.new.structural.parameters():
            assert ours[parameter] is None or ours[parameter].abs().max() == 0


def test_a_part_steps_as_adam_does_with_its_decay():
    """Two steps written out, for a settings' weight decay as part of the gradient."""
    settings = replace(SETTINGS, weight_decay=0.1)
    start = torch.tensor([1.0, -2.0])
    part = ParameterGroup([start.clone().requires_grad_()], settings)
    value, mean, square = start.clone(), torch.zeros(2), torch.zeros(2)
    for step, gradient in enumerate(([0.5, 1.0], [-0.2, 3.0]), start=1):
        whole = torch.tensor(gradient) + 0.1 * value
        mean, square = 0.9 * mean + 0.1 * whole, 0.999 * square + 0.001 * whole**2
        up, down = mean / (1 - 0.9**step), square / (1 - 0.999**step)
        value = value - SETTINGS.learning_rate * up / (down.sqrt() + 1e-8)
        part.step({part.parameters[0]: torch.tensor(gradient)})
        torch.testing.assert_close(part.parameters[0].detach(), value)
