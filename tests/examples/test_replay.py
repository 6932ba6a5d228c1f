"""The example in a file: it keeps every contract, and remembers what it would forget."""

from __future__ import annotations

import pathlib

import pytest
import torch

from bell_bench.testing import check_algorithm
from tests.plugins.avalanche.making import learn_all, make_algorithm, tiny

pytestmark = pytest.mark.slow
REPLAY = f"{pathlib.Path(__file__).parents[2] / 'examples' / 'replay.py'}:Replay"


def test_it_keeps_every_contract() -> None:
    check_algorithm(REPLAY)


def test_examples_of_former_problems_take_part(tmp_path: pathlib.Path) -> None:
    """Their loss is lower after the next problem, the more of them are kept."""
    sequence = tiny("S_pl", max_updates=60, learning_rate=0.01)
    losses = []
    for examples in (1, 200):
        algorithm, _ = make_algorithm(tmp_path, sequence, REPLAY, examples=examples)
        learn_all(algorithm, sequence, range(2))
        first = sequence.problem(0).train
        images = torch.from_numpy(first.pixels())[torch.from_numpy(first.index).long()]
        labels = torch.from_numpy(first.labels)
        losses.append(float(algorithm.suite_loss(0, images, labels).detach()))
    assert losses[1] < losses[0]
