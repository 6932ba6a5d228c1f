"""Batches are permutations of all inputs, with each distinct image once where it can be shared."""

from itertools import islice

import numpy as np
import pytest
import torch
from made_problems import pairs, singles
from torch.nn import functional

from bell_bench.modular.augmentation import PADDING, augment, draw
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


@pytest.mark.parametrize("make", [pairs, singles])
def test_unshared_batches_have_each_image_as_often_as_it_occurs(make):
    split = make(points=100, images=5).train
    numbers = torch.arange(100)
    options = {"seed": 1, "by_image": True}
    for ours, theirs in zip(
        islice(batches(split, numbers, SIZE, **options, shared=False), 9),
        islice(batches(split, numbers, SIZE, **options), 9),
        strict=True,
    ):
        assert torch.equal(ours.labels, theirs.labels), "the same inputs in the same order"
        assert torch.equal(ours.items, torch.from_numpy(split.index)[ours.labels].flatten())
        assert torch.equal(ours.items[ours.members], theirs.items[theirs.members])
        assert len(ours.items) == len(ours.labels) * split.arity > len(theirs.items)
        assert ours.draws is None


def test_augmentation_leaves_the_order_and_follows_the_seed():
    split = singles(points=70).train
    options = {"by_image": True, "shared": False}

    def epochs(seed, augmented):
        stream = batches(split, torch.arange(70), SIZE, seed=seed, augmented=augmented, **options)
        return list(islice(stream, 6))

    plain, first, again, other = epochs(1, False), epochs(1, True), epochs(1, True), epochs(2, True)
    for a, b, c in zip(plain, first, again, strict=True):
        assert torch.equal(a.items, b.items)
        assert torch.equal(b.draws, c.draws)
        assert b.draws.shape == (len(b.items), 3)
    assert not torch.equal(first[0].draws, other[0].draws)
    assert not torch.equal(first[0].draws, first[3].draws), "each epoch is cropped anew"


def test_draws_are_even():
    drawn = draw(np.random.RandomState(0), 20_000)
    for column in (0, 1):
        counts = np.bincount(drawn[:, column], minlength=2 * PADDING + 1)
        assert len(counts) == 9
        assert counts.min() > 2000
    assert drawn[:, 2].mean() == pytest.approx(0.5, abs=0.02)


def test_crops_and_mirror_images_equal_a_loop():
    images = torch.randn(40, 9, 7, 3)
    draws = draw(np.random.RandomState(1), 40)
    padded = functional.pad(images, (0, 0, 4, 4, 4, 4))
    for image, whole, (top, left, mirrored) in zip(
        augment(images, torch.from_numpy(draws)), padded, draws, strict=True
    ):
        crop = whole[top : top + 9, left : left + 7]
        assert torch.equal(image, crop.flip(1) if mirrored else crop)
