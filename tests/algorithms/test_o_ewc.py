"""O-EWC: the Fisher information by hand, the penalty, accumulation, and resuming."""

from __future__ import annotations

import pathlib
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from bell_bench.errors import Unsupported, UsageError
from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.options import complete
from bell_bench.plugins import registry
from tests.plugins.avalanche.making import (
    check_resume,
    check_scores,
    learn_all,
    make_algorithm,
    tiny,
)

pytestmark = pytest.mark.slow  # importing Avalanche takes seconds

TINY = Architecture(
    (
        ModuleSpec("linear", Type("pixel", (2,)), Type("hidden", (2,)), "none"),
        ModuleSpec("linear", Type("hidden", (2,)), Type("answer", (1,)), "sigmoid"),
    )
)


@pytest.fixture
def model() -> Any:
    from bell_bench_avalanche.data import Task
    from bell_bench_avalanche.model import MultiHead

    made = MultiHead(seed=0)
    made.add(Task(0, TINY, first=0, classes=2))
    return made


def test_fisher_is_the_mean_of_squared_sample_gradients(model: Any) -> None:
    from bell_bench_algorithms.o_ewc import body, fisher

    inputs = torch.tensor([[1.0, 2.0], [-0.5, 3.0], [2.0, -1.0]])
    classes = torch.tensor([1, 0, 1])
    found = fisher(model, 0, inputs.unsqueeze(1), classes, body(model, 0))

    (first, second) = model.network.weights(0).values()
    expected, means = torch.zeros(2, 2), torch.zeros(2, 2)
    for x, y in zip(inputs, classes, strict=True):
        z = (x @ first["weight"] + first["bias"]) @ second["weight"][:, 0] + second["bias"]
        slope = torch.sigmoid(z) - y  # of the loss by the logit
        gradient = slope * x[:, None] * second["weight"][:, 0]
        expected += gradient.detach().square() / 3
        means += gradient.detach() / 3
    (weight, bias) = found.values()
    torch.testing.assert_close(weight, expected)
    assert not torch.allclose(weight, means.square(), rtol=0.1), "not the mean gradient's square"
    assert bias.shape == (2,)


def test_penalty_by_hand_and_its_gradient() -> None:
    from bell_bench_algorithms.o_ewc import Consolidation

    plugin = Consolidation(strength=10.0, decay=0.5)
    weights = {"a": torch.nn.Parameter(torch.tensor([1.0, 2.0])), "b": torch.ones(3)}
    assert plugin.penalty(weights) == 0, "nothing to keep before the first problem"
    plugin.consolidate({"a": weights["a"]}, {"a": torch.tensor([0.1, 0.3])})
    weights["a"].data += torch.tensor([2.0, -1.0])
    penalty = plugin.penalty(weights)
    assert penalty.item() == pytest.approx(10 / 2 * (0.1 * 4 + 0.3 * 1))
    penalty.backward()
    torch.testing.assert_close(weights["a"].grad, 10 * torch.tensor([0.1 * 2, 0.3 * -1]))


@pytest.mark.parametrize(("decay", "expected"), [(0.5, 2.5), (0.0, 2.0)])
def test_fisher_accumulates_with_decay_or_is_replaced(decay: float, expected: float) -> None:
    from bell_bench_algorithms.o_ewc import Consolidation

    plugin = Consolidation(1.0, decay)
    for value in (1.0, 2.0):
        plugin.consolidate({"a": torch.tensor([value])}, {"a": torch.tensor([value])})
    assert float(plugin.fisher["a"]) == expected
    assert float(plugin.anchor["a"]) == 2.0


def test_the_preset_decides(tmp_path: pathlib.Path) -> None:
    decays = {
        protocol: make_algorithm(tmp_path, tiny("S_pl", protocol), "o-ewc")[0].decay
        for protocol in ("paper", "authors-code")
    }
    assert decays == {"paper": 0.95, "authors-code": 0.0}
    page = (pathlib.Path(__file__).parents[2] / "docs" / "baselines.md").read_text()
    assert "| O-EWC's Fisher after a problem | accumulated with decay | replaced |" in page


def test_a_gamma_without_meaning_or_effect_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="of at least 0 and of at most 1, not 7"):
        complete(registry().algorithm("o-ewc").spec, {"gamma": 7.0})
    with pytest.raises(Unsupported, match="would change nothing"):
        make_algorithm(tmp_path, tiny("S_pl", "authors-code"), "o-ewc", gamma=0.5)
    assert make_algorithm(tmp_path, tiny("S_pl"), "o-ewc", gamma=0.5)[0].decay == 0.5


def test_heads_are_free_and_all_is_accounted_for(tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_pl")
    algorithm, context = make_algorithm(tmp_path, sequence, "o-ewc")
    learn_all(algorithm, sequence, range(2))
    shared = {name for name, _ in algorithm.model.network.shared.named_parameters()}
    names = {f"{what}/{name}" for what in ("fisher", "anchor") for name in shared}
    assert set(algorithm.kept) == names
    sizes = sum(4 * p.numel() for p in algorithm.model.network.shared.parameters())
    assert context.stored["kept"] == [2 * sizes, 0], "Fisher and anchor"
    parameters = sum(p.numel() for p in algorithm.model.parameters())
    assert context.stored["network"] == [4 * parameters, parameters]
    assert context.charges.updates == sum(n["training"]["updates"] for n in context.notes)
    assert context.charges.train_flops > context.charges.inference_flops > 0


def test_the_penalty_joins_the_loss_of_an_update(model: Any) -> None:
    from bell_bench_algorithms.o_ewc import Consolidation, body

    plugin = Consolidation(strength=4.0, decay=1.0)
    parameters = body(model, 0)
    plugin.consolidate(parameters, {n: torch.full_like(p, 0.5) for n, p in parameters.items()})
    for parameter in model.parameters():
        parameter.data += 1  # six shared weights, and three of the head
    strategy = SimpleNamespace(
        loss=torch.ones(1), model=model, experience=SimpleNamespace(task_label=0)
    )
    plugin.before_backward(strategy)
    assert strategy.loss.item() == pytest.approx(1 + 4 / 2 * 0.5 * 6)


@pytest.mark.parametrize("name", ["S_few", "S_sp"])
def test_pairs_single_images_and_vectors_in_one_sequence(name: str, tmp_path: pathlib.Path) -> None:
    sequence = tiny(name, max_updates=4, validate_every=2)
    algorithm, _ = make_algorithm(tmp_path, sequence, "o-ewc", samples=8)
    learn_all(algorithm, sequence)
    check_scores(algorithm, sequence)


def test_a_resumed_job_ends_with_the_same_bits(tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_few", max_updates=10, validate_every=5)
    check_resume(tmp_path, "o-ewc", sequence, stop=3, samples=8)
