"""Networks and training of the two set-ups."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bell_bench.modular.blocks import block
from bell_bench.modular.learner import initial
from bell_bench.modular.network import features
from bell_bench.problem import Inputs
from bell_bench.suites.ctrl.suite import CTRL, CTRL_RESNET

from .fake_images import sequence

CPU = torch.device("cpu")


def network(suite, classes: int = 10, scale: str = "paper"):
    return suite.network(suite.scales[scale].width, classes)


def parameters(architecture) -> list[int]:
    counts = []
    for layer, spec in enumerate(architecture.modules):
        weights = initial(architecture, layer, 0, torch.float32)
        kept = (t for name, t in weights.items() if name not in block(spec).buffers)
        counts.append(sum(tensor.numel() for tensor in kept))
    return counts


def test_the_published_parameter_counts():
    assert parameters(network(CTRL)) == [1920, 37056, 37056, 37056, 5770]
    assert parameters(network(CTRL_RESNET)) == [1856, 147968, 152192, 152192, 152192, 650]


@pytest.mark.parametrize(
    ("suite", "sides"), [(CTRL, [32, 17, 9, 5, 3]), (CTRL_RESNET, [32, 32, 32, 16, 8, 4])]
)
def test_maps_have_the_published_sides(suite, sides):
    architecture = network(suite, scale="quick")
    images = np.random.RandomState(0).randint(0, 256, (2, 32, 32, 3)).astype(np.uint8)
    inputs = Inputs(images, np.arange(2, dtype=np.int32)[:, None], 0.0, 255.0)
    weights = {i: initial(architecture, i, 0, torch.float32) for i in range(len(architecture))}
    for layer, side in enumerate(sides):
        found = features(architecture, weights, inputs, layer, device=CPU)
        width = suite.scales["quick"].width if layer else 3
        assert found.shape == (2, side, side, width) == (2, *architecture[layer].source.shape)
    answers = features(architecture, weights, inputs, len(architecture), device=CPU)
    torch.testing.assert_close(answers.sum(1), torch.ones(2))


@pytest.mark.parametrize("suite", [CTRL, CTRL_RESNET])
def test_a_head_fits_problems_with_as_many_classes_and_nothing_else(suite):
    ten, also_ten, five = (network(suite, classes).modules for classes in (10, 10, 5))
    assert ten == also_ten
    assert [a == b for a, b in zip(ten, five, strict=True)] == [True] * (len(ten) - 1) + [False]
    assert len(set(ten)) == len(ten), "no module fits two layers"
    other = network(CTRL if suite is CTRL_RESNET else CTRL_RESNET).modules
    assert not set(ten) & set(other)


def test_ctrl_at_paper_is_trained_as_lmcs_setup():
    settings = sequence("s_in", scale="paper").settings
    assert (settings.optimiser, settings.learning_rate, settings.weight_decay) == (
        "adam", 1e-3, 1e-3
    )  # fmt: skip
    assert (settings.batch, settings.max_epochs, settings.select) == (64, 100, "accuracy")
    assert settings.validate_every is None, "after each epoch"
    assert settings.max_updates is None
    assert settings.patience > 100 * 5000 / 64, "nothing but the epochs ends a training"
    assert (settings.grid, settings.augment) == ((), False)
    assert CTRL.scales["paper"].width == 64


def test_ctrl_resnet_at_paper_is_trained_as_the_originals_setup():
    settings = sequence("s_in", scale="paper", resnet=True).settings
    assert settings.optimiser == "adam"
    assert settings.grid == (
        (1e-2, 0.0), (1e-2, 1e-5), (1e-2, 1e-4), (1e-3, 0.0), (1e-3, 1e-5), (1e-3, 1e-4)
    )  # fmt: skip
    assert (settings.patience, settings.augment) == (300, True)
    assert CTRL_RESNET.scales["paper"].width == 64


def test_every_suite_has_the_three_scales_quick_first():
    for suite in (CTRL, CTRL_RESNET):
        assert list(suite.scales) == ["quick", "standard", "paper"]
        widths = [scale.width for scale in suite.scales.values()]
        assert widths == sorted(widths)
