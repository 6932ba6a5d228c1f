"""The output of a path's frozen prefix: once per image or input, as far as memory allows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

import psutil
import torch
from torch import Tensor

from bell_bench.modular.architecture import Architecture
from bell_bench.modular.augmentation import augment
from bell_bench.modular.network import IMAGES, Modules, in_chunks, pixels, rows, run_modules
from bell_bench.problem import Inputs

MOST = 2 * 1024**3
JOB_MEMORY = "BELL_BENCH_JOB_MEMORY"
"""Set by the harness: the bytes this job may use."""

Lookup: TypeAlias = Callable[[Tensor], Tensor]
"""A function from the numbers of images, or of inputs, to their features."""


class Budget:
    """How many bytes of features may still be kept; by default a quarter of free memory, or of the
    job's memory limit, and at most 2 GB."""

    def __init__(self, size: int | None) -> None:
        self.left = default_budget() if size is None else size

    def take(self, size: int) -> bool:
        """Take ``size`` bytes if they are left; return whether they were."""
        if size > self.left:
            return False
        self.left -= size
        return True


def default_budget() -> int:
    allowed = int(os.environ.get(JOB_MEMORY, psutil.virtual_memory().total))
    return min(min(psutil.virtual_memory().available, allowed) // 4, MOST)


@torch.no_grad()
def features_below(
    architecture: Architecture,
    frozen: Modules,
    inputs: Inputs,
    start: int,
    *,
    budget: Budget,
    device: torch.device,
    dtype: torch.dtype,
) -> Lookup:
    """Return a lookup of what layer ``start`` receives from the frozen layers below it.

    It takes image numbers below the joint layer, and input numbers, joined, from there on.
    """
    joint = architecture.joint
    images = pixels(inputs, device, dtype)
    by_image = _lookup(images)
    if min(start, joint):
        below = range(min(start, joint))
        by_image = _tabulated(
            lambda ids: _exactly(architecture, frozen, images.index_select(0, ids), below),
            len(images),
            budget,
            device,
        )
    if start < joint:
        return by_image
    index = rows(inputs, device)

    def by_input(ids: Tensor) -> Tensor:
        chosen = index.index_select(0, ids)
        joined = by_image(chosen.flatten())
        joined = joined.view(*chosen.shape, *joined.shape[1:])
        return _exactly(architecture, frozen, joined, range(joint, start))

    return _tabulated(by_input, len(index), budget, device)


def augmented_below(
    architecture: Architecture,
    frozen: Modules,
    inputs: Inputs,
    start: int,
    *,
    device: torch.device,
    dtype: torch.dtype,
) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a function from images and draws to what layer ``start`` receives, not tabulated."""
    images = pixels(inputs, device, dtype)

    @torch.no_grad()
    def lookup(ids: Tensor, draws: Tensor) -> Tensor:
        seen = augment(images.index_select(0, ids), draws)
        return _exactly(architecture, frozen, seen, range(start))

    return lookup


def _exactly(architecture: Architecture, frozen: Modules, x: Tensor, layers: range) -> Tensor:
    """Return the output of frozen layers, always computed for ``IMAGES`` rows at once.

    A matrix product's last bits depend on the number of rows, but not on which rows they are. So
    chunks are filled up to that number, and features have the same bits whether they are kept or
    computed again in a batch. Frozen modules are in evaluation mode, so no row changes another.
    """

    def full(part: Tensor) -> Tensor:
        missing = IMAGES - len(part)
        if missing:
            part = torch.cat([part, part[-1:].expand(missing, *part.shape[1:])])
        return run_modules(architecture, frozen, part, layers)[: IMAGES - missing]

    return in_chunks(full, x, IMAGES) if layers else x


def _tabulated(function: Lookup, count: int, budget: Budget, device: torch.device) -> Lookup:
    """Return the same function, as a table of its values if the budget has room for it."""
    ids = torch.arange(count, device=device)
    first = function(ids[:1])
    if not budget.take(count * first.numel() * first.element_size()):
        return torch.no_grad()(function)
    return _lookup(in_chunks(function, ids, IMAGES))


def _lookup(table: Tensor) -> Lookup:
    return lambda ids: table.index_select(0, ids)
