"""Cutting a domain's images into train, validation and test, whatever there is of each class."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bell_bench.data.cut import cut_splits
from bell_bench.data.domain import DomainSizes
from bell_bench.suites.bell.domains import CLASSES, CUT

COUNTS = st.lists(st.integers(1, 40), min_size=CLASSES, max_size=CLASSES)
"""Images of each class."""
SPLITS = ("train", "validation", "test")


@given(COUNTS, COUNTS, st.none() | st.integers(1, 200), st.integers(1, 60), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_no_image_is_in_two_splits_and_every_prefix_is_balanced(train, test, most, aside, seed):
    shuffle = np.random.RandomState(seed).permutation
    labels = {"train": shuffle(np.repeat(np.arange(CLASSES), train)),
              "test": shuffle(np.repeat(np.arange(CLASSES), test))}  # fmt: skip
    numbers = {"train": np.arange(sum(train)), "test": 10_000 + np.arange(sum(test))}
    content = {f"{split}_labels": each for split, each in labels.items()}
    content |= {f"{split}_images": each for split, each in numbers.items()}
    found = cut_splits(content, CUT, DomainSizes(most, aside, most))

    shown = np.concatenate([found[f"{split}_images"] for split in SPLITS])
    assert len(np.unique(shown)) == len(shown), "each image in one split, once"
    assert len(found["validation_images"]) == min(sum(train) // 5, aside)
    assert (found["test_images"] >= 10_000).all()
    for split, origin in zip(SPLITS, ("train", "train", "test"), strict=True):
        images, own = found[f"{split}_images"], found[f"{split}_labels"]
        np.testing.assert_array_equal(labels[origin][images % 10_000], own)
    balanced = found["test_labels"][: CLASSES * min(test)]
    assert np.ptp(np.bincount(balanced, minlength=CLASSES)) <= 1
