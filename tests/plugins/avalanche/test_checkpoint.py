"""Strategies saved between problems, without pickle, and restored into a new process's objects."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
import torch

from bell_bench.errors import BellBenchError
from tests.plugins.avalanche.making import learn_all, make_algorithm, tiny
from tests.plugins.avalanche.test_strategies import STRATEGIES

pytestmark = pytest.mark.slow  # importing Avalanche takes seconds

BRIEF = {"max_updates": 4, "validate_every": 2, "test_points": 16}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_resumed_job_predicts_as_an_uninterrupted_one(name: str, tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_pl", **BRIEF)
    whole, context = make_algorithm(tmp_path, sequence, f"avalanche:{name}")
    learn_all(whole, sequence, range(2))
    saved = tmp_path / "saved"
    saved.mkdir()
    whole.save(saved)
    assert {file.suffix for file in saved.iterdir()} == {".json", ".safetensors"}
    learn_all(whole, sequence, range(2, 3))

    torch.manual_seed(12345)
    resumed, again = make_algorithm(tmp_path, sequence, f"avalanche:{name}")
    resumed.load(saved)
    learn_all(resumed, sequence, range(2, 3))
    for index in range(3):
        inputs = sequence.test(index).inputs
        assert torch.equal(whole.predict(index, inputs), resumed.predict(index, inputs)), index
    expected, found = (each.strategy.model.state_dict() for each in (whole, resumed))
    assert all(torch.equal(expected[key], found[key]) for key in (*expected, *found))
    assert again.stored == context.stored


def test_problems_of_several_kinds_are_replayed_after_a_break(tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_few", **BRIEF)
    whole, _ = make_algorithm(tmp_path, sequence, "avalanche:Replay", mem_size=20)
    learn_all(whole, sequence, range(4))
    (tmp_path / "saved").mkdir()
    whole.save(tmp_path / "saved")
    resumed, _ = make_algorithm(tmp_path, sequence, "avalanche:Replay", mem_size=20)
    resumed.load(tmp_path / "saved")
    for algorithm in (whole, resumed):
        learn_all(algorithm, sequence, range(4, 5))
    for index in range(5):
        inputs = sequence.test(index).inputs
        assert torch.equal(whole.predict(index, inputs), resumed.predict(index, inputs))


@pytest.fixture
def learnt(tmp_path: pathlib.Path) -> Any:
    sequence = tiny("S_pl", max_updates=1, validate_every=1, test_points=16)
    algorithm, _ = make_algorithm(tmp_path, sequence, "avalanche:Naive")
    learn_all(algorithm, sequence, range(1))
    return algorithm


def test_what_cannot_be_written_is_named(learnt: Any, tmp_path: pathlib.Path) -> None:
    """The worker then keeps no checkpoint, and an interrupted job starts over."""
    learnt.strategy.plugins.append(learnt.strategy.clock)
    learnt.strategy.clock.secret = [{"deep": object()}]
    with pytest.raises(
        NotImplementedError, match=r"avalanche:Naive cannot be saved: .*deep is a builtins.object"
    ):
        learnt.save(tmp_path)
    learnt.strategy.clock.secret = secret = []
    secret.append(secret)
    with pytest.raises(NotImplementedError, match="contains itself"):
        learnt.save(tmp_path)


def test_only_classes_of_avalanche_are_looked_up(learnt: Any, tmp_path: pathlib.Path) -> None:
    learnt.save(tmp_path)
    file = tmp_path / "strategy.json"
    text = file.read_text()
    known = "avalanche.training.plugins.clock:Clock"
    assert known in text
    for other in ("subprocess:Popen", "avalanche.training:no_such_class"):
        file.write_text(json.dumps(json.loads(text.replace(known, other))))
        with pytest.raises(BellBenchError, match="a checkpoint names"):
            learnt.load(tmp_path)
