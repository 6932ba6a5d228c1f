"""Avalanche's strategies as algorithms, on a tiny S_pl."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
import torch

from tests.plugins.avalanche.making import check_scores, learn_all, make_algorithm, tiny

pytestmark = pytest.mark.slow  # importing Avalanche takes seconds

STRATEGIES = (
    "AGEM", "CoPE", "Cumulative", "ER_ACE", "EWC", "FromScratchTraining", "GDumb", "LwF", "MAS",
    "MIR", "Naive", "Replay", "SynapticIntelligence",
)  # fmt: skip


@pytest.mark.parametrize("name", STRATEGIES)
def test_it_runs_on_s_pl(name: str, tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_pl", max_updates=6, validate_every=3, test_points=16)
    algorithm, context = make_algorithm(tmp_path, sequence, f"avalanche:{name}")
    learn_all(algorithm, sequence)
    check_scores(algorithm, sequence)
    assert context.charges.updates >= 6 * len(sequence)
    assert context.charges.train_flops > 0
    assert context.stored["model"][1] > 1000


def test_the_same_seed_gives_the_same_bits(tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_pl", max_updates=6, validate_every=3)
    scores = []
    for disturbance in (1, 2):
        torch.manual_seed(disturbance)
        algorithm, _ = make_algorithm(tmp_path, sequence, "avalanche:Replay")
        learn_all(algorithm, sequence, range(3))
        scores.append(algorithm.predict(1, sequence.test(1).inputs))
    assert torch.equal(*scores)


def test_synaptic_intelligence_draws_weights_back(tmp_path: pathlib.Path) -> None:
    """Avalanche's own is Naive on the CPU: what it compares with the weights are views of them."""
    sequence = tiny("S_pl")
    moved = []
    for strength in (0.0, 1e3):
        name = "avalanche:SynapticIntelligence"
        algorithm, _ = make_algorithm(tmp_path, sequence, name, si_lambda=strength)
        learn_all(algorithm, sequence, range(1))
        before = [each.clone() for each in shared_weights(algorithm)]
        algorithm.learn(sequence.problem(1))
        pairs = zip(shared_weights(algorithm), before, strict=True)
        moved.append(sum(float((here - there).square().sum()) for here, there in pairs))
    assert moved[1] < 0.2 * moved[0]


def shared_weights(algorithm: Any) -> list[torch.Tensor]:
    return [each.detach() for each in algorithm.strategy.model.network.shared.parameters()]


@pytest.mark.parametrize("name", ["EWC", "MAS", "SynapticIntelligence"])
def test_a_penalty_does_not_decay_former_heads(name: str, tmp_path: pathlib.Path) -> None:
    """It gives their weights a gradient, though one of nothing."""
    sequence = tiny("S_pl", max_updates=6, validate_every=3)
    algorithm, _ = make_algorithm(tmp_path, sequence, f"avalanche:{name}")
    learn_all(algorithm, sequence, range(1))
    head = algorithm.strategy.model.network.head(0)
    before = [each.detach().clone() for each in head.parameters()]
    algorithm.learn(sequence.problem(1))
    assert all(map(torch.equal, head.parameters(), before))


def test_options_reach_the_constructor(tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_pl", max_updates=2, validate_every=1)
    stored = []
    for size in (20, 100):
        algorithm, context = make_algorithm(tmp_path, sequence, "avalanche:Replay", mem_size=size)
        learn_all(algorithm, sequence, range(1))
        stored.append(context.stored["kept by the strategy"][0])
    item = 2 * 28 * 28 + 8 + 4  # two images, a class, and the reservoir's random number
    assert stored[1] - stored[0] == 80 * item


@pytest.mark.parametrize("name", ["Naive", "Replay", "LwF"])
def test_it_runs_on_problems_of_several_kinds(name: str, tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_few", max_updates=4, validate_every=2)
    algorithm, _ = make_algorithm(tmp_path, sequence, f"avalanche:{name}")
    learn_all(algorithm, sequence)
    check_scores(algorithm, sequence)


def test_validation_stops_and_selects(tmp_path: pathlib.Path) -> None:
    """With a learning rate of nothing no loss is ever lower, so patience ends the training."""
    sequence = tiny("S_pl", learning_rate=1e-12, patience=6, validate_every=3, max_updates=40)
    algorithm, context = make_algorithm(tmp_path, sequence, "avalanche:Naive")
    learn_all(algorithm, sequence, range(1))
    assert context.charges.updates < 40


def test_more_classes_than_told_is_an_answer_not_a_crash(tmp_path: pathlib.Path) -> None:
    from bell_bench.errors import Unsupported

    sequence = tiny("S_pl")
    algorithm, _ = make_algorithm(tmp_path, sequence, "avalanche:CoPE", n_classes=3)
    learn_all(algorithm, sequence, range(1))
    with pytest.raises(Unsupported, match=r"set --option avalanche:CoPE\.n_classes"):
        learn_all(algorithm, sequence, range(1, 2))
