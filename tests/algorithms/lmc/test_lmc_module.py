from __future__ import annotations

import pytest
import torch
from torch import nn

from bell_bench.errors import Unsupported
from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench_algorithms.lmc.module import LmcModule, begun
from bell_bench_algorithms.lmc.outliers import Window
from bell_bench_algorithms.lmc.shapes import convolutional, shape
from tests.algorithms.lmc.making import BELL, VECTORS, architecture, block, make_module


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_parameters_are_the_published_numbers():
    shapes = [shape(spec) for spec in convolutional(architecture(32, 64, layers=4))]
    modules = [LmcModule(shape, "", Window(3)) for shape in shapes]
    assert [count(module.functional) for module in modules] == [1920, 37056, 37056, 37056]
    assert [count(module.structural) for module in modules] == [18307, 82176, 82176, 82176]
    assert [shape.last_kernel for shape in shapes] == [3, 4, 4, 4]
    assert [(shape.side, shape.out) for shape in shapes] == [(32, 17), (17, 9), (9, 5), (5, 3)]


def reference(module: LmcModule) -> tuple[nn.Sequential, nn.Sequential]:
    """The same module of torch's own layers, in the order in which the paper names them."""
    found, (kernel, stride, padding) = module.shape, module.shape.up
    functional = nn.Sequential(
        nn.Conv2d(found.channels, found.width, 3, padding=2),
        nn.BatchNorm2d(found.width, momentum=0.1),
        nn.ReLU(),
        nn.MaxPool2d(2),
    )
    structural = nn.Sequential(
        nn.ConvTranspose2d(found.width, found.width, kernel, stride, padding),
        nn.BatchNorm2d(found.width, momentum=0.1),
        nn.ReLU(),
        nn.ConvTranspose2d(found.width, found.channels, 3 if found.side % 2 == 0 else 4),
        nn.Sigmoid(),
    )
    for theirs, ours in ((functional, module.functional), (structural, module.structural)):
        values = list(ours.state_dict().values())
        theirs.load_state_dict(dict(zip(theirs.state_dict(), values, strict=True)))
    return functional, structural


@pytest.mark.parametrize("side", [32, 17, 9, 8, 5])
def test_a_module_computes_what_torchs_layers_do(side):
    module = make_module("", 1, block(side, 3, 5, 0), learnt=False)
    functional, structural = reference(module)
    x = torch.rand(4, 3, side, side, generator=torch.Generator().manual_seed(0))
    for training in (True, False):
        for part in (module, functional, structural):
            part.train(training)
        maps, expected = module.functional(x), functional(x)
        torch.testing.assert_close(maps, expected)
        decoded = structural(expected)
        assert decoded.shape == x.shape
        mse = torch.stack([nn.functional.mse_loss(a, b) for a, b in zip(decoded, x, strict=True)])
        torch.testing.assert_close(module.errors(maps, x), mse)
    torch.testing.assert_close(
        dict(module.functional.norm.named_buffers()), dict(functional[1].named_buffers())
    )


def test_the_input_is_a_target_without_gradient():
    module = make_module("", 1, block(8, 3, 4, 0), learnt=False)
    x = torch.rand(2, 3, 8, 8, requires_grad=True)
    maps = module.functional(x).detach()
    errors = module.errors(maps, x).sum()
    assert torch.autograd.grad(errors, x, allow_unused=True) == (None,)


def test_bells_convolutions_have_decoders_that_fit():
    for spec, side, out in zip(convolutional(BELL), (28, 12), (12, 4), strict=True):
        module = make_module("", 1, spec, learnt=False)
        x = torch.randn(3, module.shape.channels, side, side)
        maps = module.functional(x)
        assert maps.shape == (3, 4, out, out)
        assert maps.min() == 0.0
        decoded = module.structural(maps)
        assert decoded.shape == x.shape
        assert decoded.min() < 0 or decoded.max() > 1, "standardised pixels need no sigmoid"
        assert module.functional.norm is None


def test_vectors_have_no_layers_of_modules():
    assert convolutional(VECTORS) == ()
    assert len(convolutional(BELL)) == 2
    assert len(convolutional(architecture(32, 8, layers=4))) == 4


def test_another_kind_of_module_is_refused_by_name():
    stem = ModuleSpec("conv-norm", Type("image", (32, 32, 3)), Type("map", (32, 32, 8)))
    head = ModuleSpec("linear", stem.target, Type("answer", (2,)), "none")
    with pytest.raises(Unsupported, match=r"no decoder.*conv-norm"):
        [shape(spec) for spec in convolutional(Architecture((stem, head)))]


def test_weights_come_from_the_generator_alone():
    before = torch.random.get_rng_state()
    spec = block(8, 3, 4, 0)
    states = [make_module("", seed, spec).state_dict() for seed in (1, 1, 2)]
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])
    assert not torch.equal(states[0]["functional.conv.weight"], states[2]["functional.conv.weight"])
    bound = (3 * 9) ** -0.5
    largest = float(states[0]["functional.conv.weight"].abs().max())
    assert 0.8 * bound < largest <= bound


def test_a_frozen_module_neither_trains_nor_normalises_by_batch():
    module = make_module("", 1, block(8, 3, 4, 0), learnt=False)
    module.train()
    module.freeze()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    x = torch.rand(4, 3, 8, 8)
    maps = module.functional(x)
    assert not module.errors(maps, x).requires_grad
    alone = module.functional(x[:1])
    torch.testing.assert_close(maps[:1], alone)
    assert all(torch.equal(value, before[key]) for key, value in module.state_dict().items())


def several(spec: ModuleSpec) -> list[LmcModule]:
    modules = [make_module(str(seed), seed, spec, learnt=False) for seed in range(3)]
    for seed, module in enumerate(modules):
        module.train()
        x = torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(seed))
        module.errors(module.functional(x), x)
        module.window.add(0.5)
        module.freeze()
    return modules


def test_a_new_module_begins_as_the_layers_mean():
    modules = several(block(8, 3, 4, 0))
    new = begun(modules, 1, "mean", "9.1", 7)
    for key, value in new.state_dict().items():
        if value.is_floating_point():
            mean = sum(module.state_dict()[key] for module in modules) / 3
            torch.testing.assert_close(value, mean)
    assert not new.learnt
    assert all(parameter.requires_grad for parameter in new.parameters())
    assert (new.name, list(new.window.means), new.window.means.maxlen) == ("9.1", [], 7)


@pytest.mark.parametrize("init", ["most-likely", "most-likely-fresh-statistics"])
def test_a_new_module_begins_as_the_likeliests_copy(init):
    modules = several(block(8, 3, 4, 0))
    new = begun(modules, 1, init, "9.1", 7)
    statistics = ("running_mean", "running_var", "num_batches_tracked")
    for key, value in new.state_dict().items():
        original = modules[1].state_dict()[key]
        kept = init == "most-likely" or not key.endswith(statistics)
        assert torch.equal(value, original) == kept, key
        assert value.data_ptr() != original.data_ptr()
