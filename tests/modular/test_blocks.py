"""The kinds of modules against torch's own."""

import math

import pytest
import torch
from made_problems import convolutional, normalised, relational, residual
from reference import COLOUR, from_torch, to_torch

from bell_bench.errors import BellBenchError, UsageError
from bell_bench.modular.architecture import ModuleSpec, Type
from bell_bench.modular.blocks import ACTIVATIONS, BLOCKS, DERIVATIVES, Block, block
from bell_bench.modular.library import hash_weights

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


NORMALISED = [normalised(6, side)[layer] for side, layer in ((16, 0), (16, 1), (7, 2))]
RESIDUAL = residual(6)[:4]


def unlike_new(spec: ModuleSpec, dtype: torch.dtype = torch.float64):
    """Weights as training may leave them: no channel's scale or statistics as they began."""
    generator = torch.Generator().manual_seed(2)
    weights = new(spec, dtype=dtype)
    for name, tensor in weights.items():
        noise = torch.randn(tensor.shape, generator=generator, dtype=torch.float64).to(dtype)
        if name.endswith("running_var"):
            tensor.copy_(0.5 + noise.abs())
        elif "norm" in name or "running" in name:
            tensor.copy_(noise)  # some scales below zero
    return weights


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("spec", NORMALISED + list(RESIDUAL), ids=str)
def test_batch_normalised_kinds_and_their_gradients_equal_torchs(spec, training):
    weights = unlike_new(spec)
    plain = to_torch(spec, weights, torch.float64).train(training)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(5, *spec.source.shape, generator=generator, dtype=torch.float64)
    x.requires_grad_()
    theirs = torch.relu(plain(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1))
    signal = torch.randn(theirs.shape, generator=generator, dtype=torch.float64)
    parameters = list(plain.parameters()) if training else []
    expected = torch.autograd.grad(theirs, [x, *parameters], signal)

    kind = block(spec)
    output, saved = kind.forward(spec, weights, x.detach(), training)
    ours = ACTIVATIONS["relu"](output)
    torch.testing.assert_close(ours, theirs.detach())
    assert ours.shape[1:] == spec.target.shape
    into = {n: torch.empty_like(t) for n, t in weights.items() if n not in kind.buffers}
    signal = DERIVATIVES["relu"](signal, ours)
    found = kind.backward(weights, saved, signal, into if training else None, True)
    torch.testing.assert_close(found, expected[0])
    buffers = {name: weights[name] for name in weights if name in kind.buffers}
    torch.testing.assert_close(
        buffers, {n: t for n, t in from_torch(spec, plain).items() if n in kind.buffers}
    )
    if training:
        for parameter, gradient in zip(parameters, expected[1:], strict=True):
            parameter.data = gradient
        places = from_torch(spec, plain)
        torch.testing.assert_close(into, {name: places[name] for name in into})


@pytest.mark.parametrize("spec", NORMALISED, ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_autograd_can_go_through_apply(spec, training):
    x = torch.randn(4, *spec.source.shape, dtype=torch.float64, requires_grad=True)
    kind, mine, theirs = block(spec), unlike_new(spec), unlike_new(spec)
    names = [name for name in mine if name not in kind.buffers]
    leaves = {n: t.requires_grad_() if n in names else t for n, t in theirs.items()}
    applied = kind.apply(spec, leaves, x, training)
    output, saved = kind.forward(spec, mine, x.detach(), training)
    torch.testing.assert_close(output, applied.detach())
    signal = torch.randn_like(output)
    expected = torch.autograd.grad(applied, [x] + [leaves[n] for n in names] * training, signal)
    into = {name: torch.empty_like(mine[name]) for name in names} if training else None
    found = kind.backward(mine, saved, signal, into, True)
    torch.testing.assert_close([found, *(into or {}).values()], list(expected))


@pytest.mark.parametrize("spec", [*NORMALISED, *RESIDUAL], ids=str)
def test_evaluation_mode_changes_nothing_and_sees_no_other_image(spec):
    kind, weights = block(spec), unlike_new(spec, torch.float32)
    before = {name: tensor.clone() for name, tensor in weights.items()}
    x = torch.randn(8, *spec.source.shape)
    alone = torch.cat([kind.apply(spec, weights, image[None]) for image in x])
    torch.testing.assert_close(kind.apply(spec, weights, x), alone)
    torch.testing.assert_close(kind.forward(spec, weights, x, False)[0], alone)
    assert all(torch.equal(before[name], tensor) for name, tensor in weights.items())
    assert kind.whole_batch


def test_a_module_with_other_statistics_is_another_module():
    spec = NORMALISED[0]
    weights = new(spec)
    before = hash_weights(weights, spec)
    block(spec).forward(spec, weights, torch.randn(4, *spec.source.shape).double(), True)
    assert hash_weights(weights, spec) != before


@pytest.mark.parametrize(
    ("spec", "inputs"),
    [(normalised(64, 32)[0], 27), (normalised(64, 32)[1], 576), (normalised(64, 32)[4], 576)],
    ids=str,
)
def test_ctrls_modules_begin_as_torchs_own_layers_do(spec, inputs):
    weights, bound = new(spec), 1 / math.sqrt(inputs)
    for name in ("weight", "bias"):
        assert 0.8 * bound < float(weights[name].abs().max()) <= bound
    assert float(weights["weight"].std()) == pytest.approx(bound / math.sqrt(3), rel=0.1)
    if spec.kind in COLOUR:
        expected = {"norm_weight": 1, "norm_bias": 0, "running_mean": 0, "running_var": 1}
        assert all((weights[name] == value).all() for name, value in expected.items())


def parameters(spec: ModuleSpec) -> int:
    kind = block(spec)
    return sum(t.numel() for n, t in new(spec).items() if n not in kind.buffers)


def test_ctrls_parameter_counts():
    assert [parameters(spec) for spec in normalised(64, 32, 10)] == [
        1920, 37056, 37056, 37056, 5770
    ]  # fmt: skip
    assert [parameters(spec) for spec in residual(64, 32, 10)] == [
        1856, 147968, 152192, 152192, 650
    ]  # fmt: skip


def test_an_unknown_kind_is_refused():
    spec = ModuleSpec("convv", Type("a", (1,)), Type("b", (1,)))
    with pytest.raises(UsageError, match="did you mean conv"):
        block(spec)
    assert set(BLOCKS) >= {"linear", "conv"}


class Doubled(Block):
    """A kind that a suite might bring."""


@pytest.mark.parametrize(
    ("kind", "fault"),
    [("test_blocks:new", "subclass of Block"), ("no_such_module:Kind", "no_such_module")],
)
def test_a_kind_of_a_suites_own_is_named_by_an_import_string(kind, fault):
    own = ModuleSpec(f"{__name__}:Doubled", Type("a", (2,)), Type("b", (2,)))
    assert isinstance(block(own), Doubled)
    assert block(own) is block(own)
    with pytest.raises(BellBenchError, match=fault):
        block(ModuleSpec(kind.replace("test_blocks", __name__), Type("a", (2,)), Type("b", (2,))))
