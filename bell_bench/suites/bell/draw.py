"""Drawing a data set: which coordinates, which images, which pairs. Vectorised, and the same on
every machine (RandomState's stream is frozen for good)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.errors import BellBenchError
from bell_bench.problem import Split
from bell_bench.suites.bell.labellings import COORDINATES, SIDE, Labelling

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Triple:
    """How large a data set is; None means all there are."""

    points: int
    images: int | None = None
    coordinates: int | None = None
    first: bool = False
    """Whether the coordinates are the first in row-major order rather than random ones."""

    def __post_init__(self) -> None:
        if self.points < 1:
            raise BellBenchError(f"a data set needs at least one point, not {self.points}")
        if self.coordinates is not None and not 1 <= self.coordinates <= COORDINATES:
            raise BellBenchError(
                f"{self.coordinates} coordinates asked for, but the {SIDE}x{SIDE} grid has "
                f"{COORDINATES}: ask for 1 to {COORDINATES}"
            )
        if self.images is not None and self.images < 1:
            raise BellBenchError(f"a data set needs at least one image, not {self.images}")


def random_state(*names: object) -> np.random.RandomState:
    """A frozen random stream for ``names``, independent of all others."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.RandomState(np.frombuffer(digest, dtype="<u4"))


def spread(items: Ints, count: int, rng: np.random.RandomState) -> Ints:
    """``count`` items, balanced: each floor(count / m) times, the rest without replacement."""
    rest = rng.permutation(items)[: count % len(items)]
    return rng.permutation(np.concatenate([np.repeat(items, count // len(items)), rest]))


def allocate(total: int, needs: Ints, rng: np.random.RandomState) -> Ints:
    """How many unique images each class gets: as equal as possible, none more than its needs."""
    if total > needs.sum():
        raise BellBenchError(
            f"{total} unique images asked for, but the data set shows only {needs.sum()} images: "
            "ask for fewer images or more points"
        )
    if total < np.count_nonzero(needs):
        raise BellBenchError(
            f"{total} unique images cannot show {np.count_nonzero(needs)} classes: ask for more"
        )
    given = np.zeros_like(needs)
    while (left := total - int(given.sum())) > 0:
        hungry = np.flatnonzero(given < needs)
        share = left // len(hungry)
        if share == 0:
            hungry, share = rng.permutation(hungry)[:left], 1
        given[hungry] += np.minimum(share, (needs - given)[hungry])
    return given


def draw_images(
    classes: Ints, labels: Ints, images: int | None, rng: np.random.RandomState
) -> Ints:
    """One image for each wanted class: per class without replacement, the pool refilled when
    empty. ``labels`` are the domain's, ``images`` the number of unique ones to draw from."""
    needs = np.bincount(classes.ravel(), minlength=SIDE)
    have = np.bincount(labels, minlength=SIDE)
    for c in np.flatnonzero((needs > 0) & (have == 0)):
        raise BellBenchError(f"the domain has no image of class {c}, but the data set needs one")
    counts = have if images is None else allocate(images, needs, rng)
    for c in np.flatnonzero(counts > have):
        raise BellBenchError(
            f"{images} unique images ask for {counts[c]} of class {c}, but the domain has "
            f"{have[c]}: ask for fewer images, or use a domain or scale with more"
        )
    chosen = np.empty(classes.shape, dtype=np.int64)
    for c in np.flatnonzero(needs):
        pool = rng.permutation(np.flatnonzero(labels == c))[: counts[c]]
        rounds = -(-needs[c] // len(pool))
        draws = np.concatenate([rng.permutation(pool) for _ in range(rounds)])
        chosen[classes == c] = draws[: needs[c]]
    return chosen


def coordinates(triple: Triple, rng: np.random.RandomState) -> Ints:
    """The coordinate (row-major, 0..63) of each point."""
    allowed = np.arange(COORDINATES)
    if triple.coordinates is not None:
        order = allowed if triple.first else rng.permutation(allowed)
        allowed = order[: triple.coordinates]
    return spread(allowed, triple.points, rng)


def draw_split(
    images: NDArray[Any],
    labels: Ints,
    labelling: Labelling | None,
    triple: Triple,
    rng: np.random.RandomState,
    *,
    mean: float,
    std: float,
    flatten: bool = False,
) -> Split:
    """A data set of pairs labelled by ``labelling``, or of single images labelled by class."""
    if labelling is None:
        classes = spread(np.arange(SIDE), triple.points, rng)[:, None]
        answers = classes[:, 0]
    else:
        rows, columns = np.divmod(coordinates(triple, rng), SIDE)
        classes = labelling.class_at[np.stack([rows, columns], axis=1)]
        answers = labelling.grid[rows, columns]
    used, index = np.unique(draw_images(classes, labels, triple.images, rng), return_inverse=True)
    pixels = np.ascontiguousarray(images[used])
    return Split(
        pixels.reshape(len(pixels), -1) if flatten else pixels,
        index.reshape(classes.shape).astype(np.int32),
        mean,
        std,
        labels=answers.astype(np.int64),
    )
