from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from bell_bench_algorithms.lmc.weights import log_weights
from tests.algorithms.lmc.making import VALUES, images, make_network

SOFT = replace(VALUES, temperature=1.0, prior_temperature=1.0)


def composed(layer, x, values=SOFT, trust=False, project=False):
    return layer.compose(x, layer.examine(x), values, trust=trust, project=project)


def test_output_is_the_sum_of_outputs_by_weight():
    layer = make_network([[True, True, True]]).layers[0]
    x = images()
    with torch.no_grad():
        maps = [module.functional(x) for module in layer.modules]
        errors = torch.stack(
            [module.errors(y, x) for module, y in zip(layer.modules, maps, strict=True)], 1
        )
        weights = log_weights(errors, 1.0, 1.0).exp()
        expected = sum(weights[:, i].view(-1, 1, 1, 1) * maps[i] for i in range(3))
        found = composed(layer, x)
    torch.testing.assert_close(found.output, expected)
    torch.testing.assert_close(found.weights, weights.mean(0))
    assert found.loss is None


def test_known_errors_give_the_same_output():
    layer = make_network([[True, True, True]]).layers[0]
    x = images()
    known = layer.examine(x).errors
    again = layer.examine(x, known)
    assert again.maps == [None] * 3
    found = layer.compose(x, again, SOFT)
    torch.testing.assert_close(found.output, composed(layer, x).output)


def test_modules_without_weight_are_not_even_run():
    layer = make_network([[True, True]]).layers[0]
    x = images()
    errors = torch.tensor([[0.01, 0.9]]).expand(len(x), 2)
    layer.modules[1].functional.forward = None  # would fail if it were called
    found = layer.compose(x, layer.examine(x, errors), VALUES)
    torch.testing.assert_close(found.output, layer.modules[0].functional(x))


def test_a_batch_is_novel_if_every_frozen_module_says_so():
    layer = make_network([[True, True]]).layers[0]
    x = images()
    near, far = torch.full((6, 1), 0.11), torch.full((6, 1), 0.9)
    assert layer.examine(x, torch.cat([far, far], 1)).novel(4.0)
    assert not layer.examine(x, torch.cat([far, near], 1)).novel(4.0)
    assert not layer.examine(x, torch.cat([near, near], 1)).novel(4.0)
    assert not make_network([[False]]).layers[0].examine(x).novel(4.0), "no frozen module"


def test_the_score_at_the_threshold_counts_as_an_outlier():
    layer = make_network([[True]]).layers[0]
    examined = layer.examine(images())
    score = examined.scores[0]
    assert score > 0
    assert examined.novel(score)
    assert not examined.novel(score * 1.001)


def test_a_trusted_module_takes_all_weight_in_training():
    layer = make_network([[True, False]]).layers[0]
    x = images()
    assert composed(layer, x, VALUES).weights[1] < 0.99
    assert composed(layer, x, VALUES, trust=True).weights[1] > 0.9999


def test_the_structural_loss_is_of_the_new_module_and_in_projection_of_all():
    layer = make_network([[True, True, False]]).layers[0]
    x = images()
    new = layer.modules[-1]
    new.eval()
    errors = torch.cat(
        [layer.examine(x).errors, new.errors(new.functional(x), x).unsqueeze(1)], 1
    ).detach()
    plain, projected = composed(layer, x), composed(layer, x, project=True)
    assert plain.loss.item() == pytest.approx(float(errors[:, 2].mean()))
    weights = log_weights(errors, 1.0, 1.0).exp()
    assert projected.loss.item() == pytest.approx(float((weights * errors).sum(1).mean()))


def test_the_likeliest_module_has_the_highest_mean_weight():
    layer = make_network([[True, True, True]]).layers[0]
    errors = torch.tensor([[0.3, 0.1, 0.2], [0.3, 0.2, 0.1], [0.3, 0.1, 0.3]])
    assert layer.likeliest(layer.examine(images(3), errors), SOFT) == 1
