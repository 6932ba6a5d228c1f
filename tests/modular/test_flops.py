"""Operations are counted by formula, and the charge depends on sizes alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_problems import coloured, library, pairs, residuals, singles
from reference import PlainNetwork
from torch.utils.flop_counter import FlopCounterMode

from bell_bench.modular.flops import count
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import train

CPU = torch.device("cpu")
SETTINGS = TrainingSettings(max_updates=3)


def run(problem, layers=(), settings=SETTINGS, **options):
    frozen = library(problem.architecture, layers)
    return train(problem, frozen, settings, seed=1, init_seed=2, device=CPU, **options)


def test_a_product_is_counted_and_what_has_no_formula_is_listed():
    a, b = torch.ones(3, 4), torch.ones(4, 5)
    counted = count(lambda: torch.relu(a @ b).view(-1) + 1)
    assert counted.flops == 2 * 3 * 4 * 5
    assert counted.uncounted == ("add", "relu")
    assert counted.coverage == pytest.approx(1 / 3)


def test_torchs_own_counter_counts_the_same():
    network = PlainNetwork(
        pairs().architecture, library(pairs().architecture, range(8)), torch.float32
    )

    def step():
        return network(torch.ones(3, 2, 28, 28)).sum().backward()

    with FlopCounterMode(display=False) as theirs:
        step()
    assert count(step).flops == theirs.get_total_flops() > 0


def test_views_and_allocations_are_no_operators_to_cover():
    counted = count(lambda: torch.zeros(4, 4).t().reshape(2, 8))
    assert (counted.flops, counted.coverage, counted.uncounted) == (0.0, 1.0, ())


def test_a_standalone_training_costs_what_its_products_cost():
    images, inputs, updates = 64, 32, 3
    below = [144 * 25 * 8, 16 * 200 * 8, 128 * 64, 64 * 64, 64 * 8]
    above = [16 * 64, 64 * 64, 64]
    once = 2 * (images * sum(below) + inputs * sum(above))
    trained = run(pairs())
    step = 3 * once - 2 * images * below[0]  # no gradient for the pixels
    assert trained.train_flops == updates * step
    assert trained.inference_flops == 2 * 2 * (40 * sum(below) + 60 * sum(above))
    assert 0 < trained.flop_coverage < 1
    assert "_softmax" in trained.uncounted
    assert "addmm" not in trained.uncounted


def test_frozen_prefix_is_charged_once_per_unique_image():
    trained = run(pairs(), layers=range(2))
    longer = run(pairs(), layers=range(2), settings=replace(SETTINGS, max_updates=4))
    step = longer.train_flops - trained.train_flops
    prefix = 40 * 2 * (144 * 25 * 8 + 16 * 200 * 8)
    assert trained.train_flops == 3 * step + prefix


def test_all_frozen_costs_one_pass_and_no_training():
    trained = run(singles(), layers=range(5))
    below = [144 * 25 * 8, 16 * 200 * 8, 128 * 64, 64 * 64, 64 * 8]
    assert trained.train_flops == 0.0
    assert trained.inference_flops == 2 * 40 * sum(below)


@pytest.mark.parametrize("layers", [(), range(1), range(6)])
def test_the_charge_ignores_memory_and_repeated_images(layers):
    problem = pairs()
    repeated = replace(problem.train, index=np.zeros_like(problem.train.index))
    usual = run(problem, layers)
    other = run(replace(problem, train=repeated), layers, feature_budget=0)
    assert usual.train_flops == other.train_flops
    assert usual.inference_flops == other.inference_flops


def test_counting_does_not_change_training():
    first = run(pairs())
    assert run(pairs()).history == first.history


def test_a_convolution_with_batch_norm_costs_what_its_products_cost():
    sides, channels = (12, 7, 4, 3), (3, 6, 6, 6)
    below = [(side + 2) ** 2 * 9 * c * 6 for side, c in zip(sides, channels, strict=True)]
    below.append(2 * 2 * 6 * 8)
    trained = run(coloured())
    step = 2 * 32 * (3 * sum(below) - below[0])  # no gradient for the pixels
    assert trained.train_flops == 3 * step
    assert trained.inference_flops == 2 * 2 * 40 * sum(below)
    assert "native_batch_norm" not in trained.uncounted, "the hand-written way is the one counted"
    assert "max_pool2d_with_indices" in trained.uncounted


@pytest.mark.parametrize("layers", [range(2), range(4)])
def test_with_augmentation_the_frozen_prefix_is_charged_at_every_update(layers):
    settings = replace(SETTINGS, augment=True)
    trained = run(residuals(), layers, settings)
    plain = run(residuals(), layers)
    prefix = (plain.train_flops - 3 * step_of(plain, layers)) / 40
    assert trained.train_flops == 3 * (step_of(plain, layers) + 32 * prefix)
    assert trained.inference_flops == plain.inference_flops


def step_of(trained, layers):
    longer = run(residuals(), layers, replace(SETTINGS, max_updates=4))
    return longer.train_flops - trained.train_flops


def test_a_grid_is_charged_as_a_whole():
    problem, grid = coloured(), ((1e-3, 0.0), (1e-2, 0.1))
    each = [
        run(problem, settings=replace(SETTINGS, learning_rate=rate, weight_decay=decay))
        for rate, decay in grid
    ]
    both = run(problem, settings=replace(SETTINGS, grid=grid))
    for cost in ("updates", "epochs", "train_flops", "inference_flops"):
        assert getattr(both, cost) == sum(getattr(one, cost) for one in each)
    assert both.seconds > 0
    frozen = run(problem, range(5), replace(SETTINGS, grid=grid))
    assert frozen.inference_flops == run(problem, range(5)).inference_flops, "nothing to try twice"
