"""Batches are permutations of all inputs, with each distinct image once."""

from itertools import islice

import numpy as np
import pytest
import torch
from made_problems import pairs, singles

from bell_bench.modular.batches import batches

SIZE = 32


@pytest.mark.parametrize("make", [pairs, singles])
def test_an_epoch_holds_every_input_once(make):
    split = make(points=100).train
    numbers = torch.arange(100)
    epoch = list(islice(batches(split, numbers, SIZE, seed=1, by_image=True), 4))
    assert [len(batch.labels) for batch in epoch] == [32, 32, 32, 4]
    assert sorted(torch.cat([batch.labels for batch in epoch]).tolist()) == list(range(100))
    for batch in epoch:
        assert len(batch.items) == len(set(batch.items.tolist()))
        images = batch.items[batch.members]
        assert torch.equal(images, torch.from_numpy(split.index).long()[batch.labels])


def test_by_input_and_by_image_the_order_is_the_same():
    split = pairs(points=100).train
    numbers = torch.arange(100)
    orders = [
        [
            batch.labels.tolist()
            for batch in islice(batches(split, numbers, SIZE, seed=5, by_image=by_image), 9)
        ]
        for by_image in (True, False)
    ]
    assert orders[0] == orders[1]
    first = np.random.RandomState(5).permutation(100)[:SIZE]
    assert orders[0][0] == first.tolist()


def test_epochs_differ_and_seeds_may_be_large():
    split = pairs(points=32).train
    stream = batches(split, torch.arange(32), SIZE, seed=2**63 + 1, by_image=False)
    first, second = islice(stream, 2)
    assert first.items.tolist() != second.items.tolist()
    assert first.members is None
