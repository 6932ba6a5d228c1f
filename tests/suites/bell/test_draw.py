"""The generator's promises, over many sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bell_bench.errors import BellBenchError
from bell_bench.problem import Split
from bell_bench.suites.bell.draw import Triple, draw_split, random_state, spread
from bell_bench.suites.bell.labellings import labellings

PER_CLASS = 30
LABELS = np.tile(np.arange(8), PER_CLASS)
IMAGES = np.arange(len(LABELS) * 4, dtype=np.uint32).reshape(-1, 2, 2)
"""Every image is unlike every other, and tells which it is."""


def identity(split: Split) -> np.ndarray:
    """(n, arity): which of IMAGES each input shows."""
    return split.images[split.index][..., 0, 0] // 4


def draw(triple: Triple, labelling: int | None = 5, seed: int = 0) -> Split:
    upper = None if labelling is None else labellings(own_maps=False)[labelling]
    return draw_split(IMAGES, LABELS, upper, triple, random_state(seed), mean=0, std=1)


@st.composite
def triples(strategy: st.DrawFn) -> Triple:
    points = strategy(st.integers(1, 300))
    coordinates = strategy(st.none() | st.integers(1, 64))
    images = strategy(st.none() | st.integers(8, min(8 * PER_CLASS, 2 * points)) if points > 3
                      else st.none())  # fmt: skip
    return Triple(points, images, coordinates, first=strategy(st.booleans()))


@given(triples(), st.integers(0, 15), st.integers(0, 5))
@settings(deadline=None, max_examples=150)
def test_pairs_are_balanced_restricted_and_labelled_by_g(triple, labelling, seed):
    wanted = LABELS[identity(draw(replace(triple, images=None), labelling, seed))]
    needs = np.bincount(wanted.ravel(), minlength=8)
    if triple.images is not None and np.minimum(needs, PER_CLASS).sum() < triple.images:
        with pytest.raises(BellBenchError, match="but the domain has 30"):
            draw(triple, labelling, seed)
        return
    split = draw(triple, labelling, seed)
    upper = labellings(own_maps=False)[labelling]
    shown = identity(split)
    assert split.index.shape == (triple.points, 2)
    assert split.index.dtype == np.int32
    rows, columns = (np.argsort(upper.class_at)[LABELS[shown[:, i]]] for i in (0, 1))
    np.testing.assert_array_equal(split.labels, upper.grid[rows, columns])

    seen, counts = np.unique(8 * rows + columns, return_counts=True)
    allowed = triple.coordinates or 64
    assert len(seen) == min(allowed, triple.points)
    assert counts.max() - counts.min() <= 1
    if triple.first:
        assert seen.max() < allowed

    per_class = [np.bincount(shown[LABELS[shown] == c]) for c in range(8)]
    for uses in per_class:
        used = uses[uses > 0]
        assert used.size == 0 or used.max() - used.min() <= 1, "the pool is refilled when empty"
    if triple.images is not None:
        assert len(split.images) == triple.images
        sizes = [np.count_nonzero(uses) for uses in per_class]
        needs = [int(uses.sum()) for uses in per_class]
        full = [n for n, need in zip(sizes, needs, strict=True) if n < need]
        assert not full or max(sizes) - min(full) <= 1, "classes share the images equally"


def test_images_are_stored_once():
    split = draw(Triple(500, images=40))
    assert len(np.unique(identity(split))) == len(split.images) == 40
    assert split.images.flags["C_CONTIGUOUS"]


def test_single_images_are_labelled_by_class():
    split = draw(Triple(100), labelling=None)
    assert split.index.shape == (100, 1)
    np.testing.assert_array_equal(LABELS[identity(split)[:, 0]], split.labels)
    assert set(np.bincount(split.labels)) == {12, 13}


def test_spread_repeats_floor_times_and_draws_the_rest_once():
    drawn = spread(np.arange(30), 100, random_state(1))
    assert sorted(set(np.bincount(drawn))) == [3, 4]


def test_same_names_same_stream_other_names_another():
    assert random_state("a", 1).randint(1 << 30) == random_state("a", 1).randint(1 << 30)
    assert random_state("a", 1).randint(1 << 30) != random_state("a", 2).randint(1 << 30)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Triple(100, coordinates=65), "65 coordinates asked for"),
        (lambda: Triple(0), "at least one point"),
        (lambda: draw(Triple(1000, images=8 * PER_CLASS + 1)), "but the domain has 30"),
        (lambda: draw(Triple(10, images=21)), "shows only 20 images"),
        (lambda: draw(Triple(1000, images=7)), "cannot show 8 classes"),
    ],
)
def test_impossible_triples_are_refused(make, words):
    with pytest.raises(BellBenchError, match=words):
        make()
