"""ER: the ring, what joins a batch, and resuming."""

from __future__ import annotations

import dataclasses
import pathlib
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plugins.avalanche.making import (
    check_resume,
    check_scores,
    learn_all,
    make_algorithm,
    tiny,
)

pytestmark = pytest.mark.slow  # importing Avalanche takes seconds


@settings(max_examples=50, deadline=None)
@given(
    stream=st.lists(st.integers(0, 30), max_size=60),
    per_class=st.integers(1, 8),
    size=st.integers(1, 7),
)
def test_the_ring_holds_the_last_distinct_items_of_each_class(
    stream: list[int], per_class: int, size: int
) -> None:
    from bell_bench_algorithms.er import Ring

    ring = Ring(per_class)
    for start in range(0, len(stream), size):
        items = torch.tensor(stream[start : start + size])
        ring.push(items % 3, items)
    for label in range(3):
        latest = list(dict.fromkeys(item for item in reversed(stream) if item % 3 == label))
        kept = [item for item in ring.items if item % 3 == label]
        assert sorted(kept) == sorted(latest[:per_class])


def test_a_batch_is_joined_by_as_many_stored_examples() -> None:
    from bell_bench_algorithms.er import Replay, Ring

    memory = [torch.randn(50, 1, 3), torch.arange(50) % 4, torch.arange(50) % 2]
    batch = [torch.randn(8, 2, 3), torch.full((8,), 5), torch.arange(8), torch.full((8,), 2)]
    joined = []
    for _ in range(2):
        strategy = SimpleNamespace(mbatch=batch)
        ring = Ring(40)
        Replay(memory, ring, torch.Generator().manual_seed(3)).before_training_iteration(strategy)
        joined.append(strategy.mbatch)
    inputs, classes, tasks = joined[0]
    assert all(torch.equal(a, b) for a, b in zip(*joined, strict=True)), "seeded"
    assert ring.items == list(range(8)), "only the batch's own items enter the ring"
    assert inputs.shape == (16, 6), "single images are filled up to a pair's width"
    assert torch.equal(inputs[:8], batch[0].flatten(1))
    assert (inputs[8:, 3:] == 0).all()
    stored = [(inputs[8 + i, :3] == memory[0][:, 0]).all(1).nonzero().item() for i in range(8)]
    assert len(set(stored)) == 8, "drawn without replacement"
    assert classes[8:].tolist() == [number % 4 for number in stored]
    assert tasks.tolist() == [2] * 8 + [number % 2 for number in stored]


def test_replayed_images_are_cropped_as_new_ones_are() -> None:
    from bell_bench.modular.augmentation import crop_and_mirror
    from bell_bench_algorithms.er import Replay, Ring

    memory = [torch.randn(20, 1, 8, 8, 3), torch.zeros(20), torch.zeros(20)]
    batch = [torch.randn(6, 1, 8, 8, 3), torch.ones(6), torch.arange(6), torch.ones(6)]
    replayed = []
    for crops in (None, np.random.RandomState(4)):
        strategy = SimpleNamespace(mbatch=list(batch))
        generator = torch.Generator().manual_seed(3)
        Replay(memory, Ring(40), generator, crops).before_training_iteration(strategy)
        assert torch.equal(strategy.mbatch[0][:6], batch[0]), "the batch's own came cropped"
        replayed.append(strategy.mbatch[0][6:])
    assert torch.equal(crop_and_mirror(replayed[0], np.random.RandomState(4)), replayed[1])
    assert not torch.equal(*replayed)


@pytest.mark.parametrize("augmented", [False, True])
def test_the_settings_say_whether_images_are_cropped(
    augmented: bool, tmp_path: pathlib.Path
) -> None:
    sequence = tiny("S_pl")
    algorithm, context = make_algorithm(tmp_path, sequence, "er")
    context.settings = dataclasses.replace(context.settings, augment=augmented)
    plugin = algorithm.plugin(sequence.problem(0), context.settings)
    assert (plugin.crops is not None) == augmented


def test_the_first_problem_replays_nothing() -> None:
    from bell_bench_algorithms.er import Replay, Ring

    batch = [torch.randn(8, 2, 3), torch.ones(8), torch.arange(8), torch.zeros(8)]
    strategy = SimpleNamespace(mbatch=list(batch))
    Replay([], Ring(40), torch.Generator()).before_training_iteration(strategy)
    assert [part.shape for part in strategy.mbatch] == [(8, 2, 3), (8,), (8,)]


def test_examples_per_class_are_the_protocols(tmp_path: pathlib.Path) -> None:
    for protocol, expected in (("paper", 40), ("authors-code", 20)):
        algorithm, _ = make_algorithm(tmp_path, tiny("S_pl", protocol), "er")
        assert algorithm.per_class == expected
    context = algorithm.context
    context.protocol = object()
    assert type(algorithm)(context, per_class=None).per_class == 15
    page = (pathlib.Path(__file__).parents[2] / "docs" / "baselines.md").read_text()
    assert "| ER's stored examples per class, on BELL | 40 | 20 |" in page
    assert "| the same on CTrL | 15 | 15 |" in page
    assert type(algorithm)(context, per_class=3).per_class == 3


def test_what_is_stored_and_charged(tmp_path: pathlib.Path) -> None:
    sequence = tiny("S_pl")
    algorithm, context = make_algorithm(tmp_path, sequence, "er", per_class=5)
    flops = []
    for index in range(2):
        learn_all(algorithm, sequence, range(index, index + 1))
        flops.append(context.charges.train_flops)
    stored = algorithm.stored().values()
    for kept in stored:
        assert np.bincount(kept.labels).tolist() == [5, 5]
        assert kept.images.dtype == np.uint8
    arrays = sum(k.images.nbytes + k.index.nbytes + k.labels.nbytes + 8 for k in stored)
    assert context.stored["kept"] == [arrays, 0]
    assert flops[1] - flops[0] > 1.2 * flops[0], "replayed examples are paid for"


@pytest.mark.parametrize("name", ["S_few", "S_sp"])
def test_pairs_single_images_and_vectors_in_one_sequence(name: str, tmp_path: pathlib.Path) -> None:
    sequence = tiny(name, max_updates=4, validate_every=2)
    algorithm, _ = make_algorithm(tmp_path, sequence, "er")
    learn_all(algorithm, sequence)
    check_scores(algorithm, sequence)


def test_a_resumed_job_ends_with_the_same_bits(tmp_path: pathlib.Path) -> None:
    check_resume(tmp_path, "er", tiny("S_few", max_updates=10, validate_every=5), stop=3)
