"""The batches of a problem: the same for every path, each with its distinct images once.

A batch repeats images as often as they occur if they cannot be shared: because batch normalisation
depends on all of them, or because each is cropped anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bell_bench.modular.augmentation import draw
from bell_bench.problem import Split


@dataclass(frozen=True)
class Batch:
    """Some inputs of a training set and their labels."""

    items: Tensor
    """Numbers of the batch's images, or of its inputs if ``members`` is None."""
    members: Tensor | None
    """(inputs, arity): which of ``items`` form each input."""
    labels: Tensor
    draws: Tensor | None = None
    """How each of ``items`` is augmented."""


def batches(
    split: Split,
    labels: Tensor,
    size: int,
    *,
    seed: int,
    by_image: bool,
    shared: bool = True,
    augmented: bool = False,
) -> Iterator[Batch]:
    """Yield batches of endless epochs, each a permutation of all inputs; its last batch may be
    smaller.

    With ``by_image``, batches hold images rather than inputs: distinct images, or, if not
    ``shared``, all images as they occur, each with draws of its own if ``augmented``.
    """
    count = len(split)
    random = np.random.RandomState(seed % 2**32)
    crops = np.random.RandomState([seed % 2**32, 1])
    whole = count - count % size
    while True:
        order = random.permutation(count)
        for part in (order[:whole].reshape(-1, size), order[whole:].reshape(1, -1)):
            if part.size and by_image and not shared:
                yield from _unshared(split, labels, part, crops if augmented else None)
            elif part.size:
                yield from _epoch(split, labels, part, by_image)


def _unshared(
    split: Split,
    labels: Tensor,
    order: NDArray[np.int64],
    crops: np.random.RandomState | None,
) -> Iterator[Batch]:
    """Yield batches of one size that hold every image as often as it occurs."""
    members = torch.arange(order.shape[1] * split.arity, device=labels.device)
    for rows in order:
        items = torch.from_numpy(split.index[rows].flatten()).to(labels.device, torch.int64)
        draws = None
        if crops is not None:
            draws = torch.from_numpy(draw(crops, len(items))).to(labels.device)
        answers = labels[torch.from_numpy(rows).to(labels.device)]
        yield Batch(items, members.view(len(rows), -1), answers, draws)


def _epoch(
    split: Split, labels: Tensor, order: NDArray[np.int64], by_image: bool
) -> Iterator[Batch]:
    """Yield batches of one size. They are prepared together, which saves time in each step."""
    chosen = torch.from_numpy(order).to(labels.device)
    answers = labels[chosen]
    if not by_image:
        for items, answer in zip(chosen, answers, strict=True):
            yield Batch(items, None, answer)
        return
    images, counts, members = _distinct(split.index[order].reshape(len(order), -1))
    parts = torch.split(torch.from_numpy(images).to(labels.device), counts.tolist())
    grouped = torch.from_numpy(members).to(labels.device).view(*order.shape, split.arity)
    for items, member, answer in zip(parts, grouped, answers, strict=True):
        yield Batch(items, member, answer)


def _distinct(
    index: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return each row's distinct numbers (one row after another), how many each row has, and each
    number's position among them."""
    order = np.argsort(index, axis=1, kind="stable")
    ascending = np.take_along_axis(index, order, axis=1)
    first = np.diff(ascending, axis=1, prepend=-1) != 0
    members = np.empty(index.shape, dtype=np.int64)
    np.put_along_axis(members, order, np.cumsum(first, axis=1) - 1, axis=1)
    return ascending[first].astype(np.int64), first.sum(axis=1), members
