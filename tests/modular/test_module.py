"""Typed architectures as torch modules: what is shared, and that they compute what paths do."""

from __future__ import annotations

import pytest
import torch
from made_problems import coloured, convolutional, pairs, relational, residuals, singles, vectors

from bell_bench.errors import UsageError
from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.modular.blocks import BLOCKS, Block
from bell_bench.modular.learner import initial
from bell_bench.modular.module import SharedNetwork, TypedModule, optimiser
from bell_bench.modular.network import logits, pixels, rows
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem

CPU = torch.device("cpu")


def inputs(problem: Problem) -> torch.Tensor:
    split = problem.validation
    return pixels(split, CPU, torch.float32)[rows(split, CPU)]


@pytest.mark.parametrize("make", [pairs, singles, vectors, coloured, residuals])
def test_it_computes_what_a_path_computes(make) -> None:
    problem = make(validation=20)
    network = SharedNetwork()
    network.add(0, problem.architecture, init_seed=7)
    modules = {
        layer: initial(problem.architecture, layer, 7, torch.float32)
        for layer in range(len(problem.architecture))
    }
    expected = logits(problem.architecture, modules, problem.validation, device=CPU)
    found = network.eval()(inputs(problem), 0).detach()
    torch.testing.assert_close(found, expected)
    again = logits(problem.architecture, network.weights(0), problem.validation, device=CPU)
    assert torch.equal(again, expected)


def test_modules_are_shared_where_types_match_and_heads_never() -> None:
    network = SharedNetwork()
    for index, problem in enumerate((singles(), pairs(), pairs(), vectors(), singles())):
        network.add(index, problem.architecture, init_seed=index)
    single, pair, other, vector, last = (network.weights(index) for index in range(5))
    for layer in range(4):
        assert single[layer]["weight"] is pair[layer]["weight"] is last[layer]["weight"]
    assert single[4]["weight"] is not pair[4]["weight"], (
        "a classifier of one, a module of the other"
    )
    assert single[4]["weight"] is not last[4]["weight"]
    for layer in range(7):
        assert pair[layer]["weight"] is other[layer]["weight"]
    assert pair[7]["weight"] is not other[7]["weight"]
    shared = [vector[layer]["weight"] is pair[layer + 3]["weight"] for layer in range(5)]
    assert shared == [False, False, True, True, False], "the same types at other layers are shared"


def test_modules_of_one_network_stay_apart() -> None:
    values = Type("values", (6,))
    same = ModuleSpec("linear", values, values)
    network = SharedNetwork()
    network.add(0, Architecture((same, same, same)), 0)
    first, second, head = (network.weights(0)[layer]["weight"] for layer in range(3))
    assert first is not second is not head


def test_types_count_not_only_shapes() -> None:
    image = convolutional(4)
    renamed = list(image)
    hidden = Type("other", image[3].source.shape)
    renamed[2] = ModuleSpec("linear", image[2].source, hidden)
    renamed[3] = ModuleSpec("linear", hidden, image[3].target)
    network = SharedNetwork()
    network.add(0, Architecture(image + relational()), 0)
    network.add(1, Architecture(tuple(renamed) + relational()), 0)
    first, second = network.weights(0), network.weights(1)
    same = [first[layer]["weight"] is second[layer]["weight"] for layer in range(8)]
    assert same == [True, True, False, False, True, True, True, False]


def test_adding_a_problem_changes_no_weights_of_others() -> None:
    network = SharedNetwork()
    network.add(0, pairs().architecture, 1)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.add(1, pairs().architecture, 2)
    network.add(1, pairs().architecture, 3)
    after = network.state_dict()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert set(after) - set(before) == {"heads.1.weight", "heads.1.bias"}


class Counting(Block):
    """A kind with a buffer that training changes in place, as batch normalisation's do."""

    buffers = ("seen",)

    def init(self, spec, generator, dtype=torch.float32):
        return {"scale": torch.ones(1, dtype=dtype), "seen": torch.zeros(1, dtype=dtype)}

    def apply(self, spec, weights, x, training=False):
        if training:
            weights["seen"].add_(len(x))
        return x * weights["scale"]


def test_buffers_are_updated_in_training_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BLOCKS, "counting", Counting())
    spec = ModuleSpec("counting", Type("a", (3,)), Type("b", (3,)), "none")
    module = TypedModule(spec, Counting().init(spec, None))
    assert [name for name, _ in module.named_parameters()] == ["scale"]
    module.train()(torch.ones(5, 3))
    module.eval()(torch.ones(9, 3))
    assert float(module.state_dict()["seen"]) == 5


def test_the_optimiser_is_the_suites() -> None:
    parameter = torch.nn.Parameter(torch.ones(1))
    settings = TrainingSettings(learning_rate=0.1, weight_decay=0.2, optimiser="adam")
    made = optimiser([parameter], settings)
    assert isinstance(made, torch.optim.Adam)
    assert (made.defaults["lr"], made.defaults["weight_decay"]) == (0.1, 0.2)
    with pytest.raises(UsageError, match="unknown optimiser 'sgd'"):
        optimiser([parameter], TrainingSettings(optimiser="sgd"))
