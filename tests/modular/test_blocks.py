"""The kinds of modules against torch's own."""

import math

import pytest
import torch
from made_problems import convolutional, relational
from reference import from_torch, to_torch

from bell_bench.errors import UsageError
from bell_bench.modular.architecture import ModuleSpec, Type
from bell_bench.modular.blocks import ACTIVATIONS, BLOCKS, DERIVATIVES, Block, block

CONVOLUTIONS = [
    ((28, 28), 5, 2, 3),
    ((12, 12, 4), 5, 2, 6),
    ((9, 11, 3), 3, 1, 2),
    ((10, 10, 2), 4, 3, 5),
    ((8, 8, 2), 2, 3, 2),
]


def conv(source: tuple[int, ...], kernel: int, stride: int, channels: int) -> ModuleSpec:
    rows, columns = ((side - kernel) // stride + 1 for side in source[:2])
    return ModuleSpec(
        "conv",
        Type("in", source),
        Type("out", (rows, columns, channels)),
        settings=(("kernel", kernel), ("stride", stride)),
    )


def new(spec: ModuleSpec, seed: int = 0, dtype: torch.dtype = torch.float64):
    return block(spec).init(spec, torch.Generator().manual_seed(seed), dtype)


@pytest.mark.parametrize("geometry", CONVOLUTIONS)
def test_a_convolution_and_its_gradients_equal_torchs(geometry):
    spec = conv(*geometry)
    weights = new(spec)
    plain = to_torch(spec, weights, torch.float64)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(7, *spec.source.shape, generator=generator, dtype=torch.float64)
    x.requires_grad_()
    maps = x if x.dim() == 4 else x.unsqueeze(-1)
    theirs = plain(maps.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    signal = torch.randn(theirs.shape, generator=generator, dtype=torch.float64)
    expected = torch.autograd.grad(theirs, [x, plain.weight, plain.bias], signal)

    ours, saved = block(spec).forward(spec, weights, x.detach(), True)
    torch.testing.assert_close(ours, theirs.detach())
    assert ours.shape[1:] == spec.target.shape
    into = {name: torch.empty_like(tensor) for name, tensor in weights.items()}
    found = block(spec).backward(weights, saved, signal, into, True)
    torch.testing.assert_close(found.view_as(x), expected[0])
    plain.weight.data, plain.bias.data = expected[1:]
    torch.testing.assert_close(into, from_torch(spec, plain))


@pytest.mark.parametrize("kind", ["linear", "conv"])
@pytest.mark.parametrize(("trained", "to_input"), [(True, True), (True, False), (False, True)])
def test_gradients_equal_autograds(kind, trained, to_input):
    spec = {"linear": convolutional(8)[2], "conv": convolutional(8)[1]}[kind]
    weights = new(spec)
    x = torch.randn(3, *spec.source.shape, dtype=torch.float64)
    results = []
    for way in (block(spec), ByAutograd(block(spec))):
        output, saved = way.forward(spec, weights, x, trained)
        into = {name: torch.empty_like(tensor) for name, tensor in weights.items()}
        signal = torch.ones_like(output)
        found = way.backward(weights, saved, signal, into if trained else None, to_input)
        assert (found is not None) == to_input
        results.append((output, found, into if trained else {}))
    torch.testing.assert_close(*results)


class ByAutograd(Block):
    """A kind that leaves its gradients to autograd, as new kinds may."""

    def __init__(self, kind: Block) -> None:
        self.apply = kind.apply


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives_of_activations_equal_autograds(name):
    x = torch.randn(5, 8, dtype=torch.float64, requires_grad=True)
    output = ACTIVATIONS[name](x * 1.0)
    signal = torch.randn_like(output)
    (expected,) = torch.autograd.grad(output, [x], signal)
    torch.testing.assert_close(DERIVATIVES[name](signal.clone(), output.detach()), expected)


@pytest.mark.parametrize("spec", [convolutional(8)[2], relational()[0]], ids=str)
def test_a_linear_module_flattens_maps_and_joins_pairs(spec):
    inputs = spec.join * math.prod(spec.source.shape)
    weights = new(spec)
    assert weights["weight"].shape == (inputs, 64)
    joined = (spec.join,) if spec.join > 1 else ()
    x = torch.randn(3, *joined, *spec.source.shape, dtype=torch.float64)
    expected = x.reshape(3, inputs) @ weights["weight"] + weights["bias"]
    torch.testing.assert_close(block(spec).apply(spec, weights, x), expected)


@pytest.mark.parametrize(
    ("spec", "fans", "gain"),
    [
        (convolutional(64)[1], 2 * 25 * 64, math.sqrt(2)),
        (convolutional(64)[2], 1024 + 64, math.sqrt(2)),
        (convolutional(64)[4], 64 + 8, 1.0),
        (relational()[0], 16 + 64, math.sqrt(2)),
    ],
    ids=str,
)
def test_initial_weights_are_xavier_uniform(spec, fans, gain):
    weights = new(spec)
    bound = gain * math.sqrt(6 / fans)
    values = weights["weight"]
    assert float(values.abs().max()) <= bound
    assert float(values.abs().max()) > 0.95 * bound
    assert float(values.std()) == pytest.approx(bound / math.sqrt(3), rel=0.1)
    assert not weights["bias"].any()


def test_all_precisions_start_from_the_same_weights():
    spec = relational()[0]
    single, double = new(spec, dtype=torch.float32), new(spec)
    assert torch.equal(single["weight"], double["weight"].float())


def test_the_papers_parameter_counts():
    specs = convolutional(64) + relational()
    counts = [sum(t.numel() for t in new(spec).values()) for spec in specs]
    assert counts == [1664, 102464, 65600, 4160, 520, 1088, 4160, 65]


def test_an_unknown_kind_is_refused():
    spec = ModuleSpec("convv", Type("a", (1,)), Type("b", (1,)))
    with pytest.raises(UsageError, match="did you mean conv"):
        block(spec)
    assert set(BLOCKS) >= {"linear", "conv"}
