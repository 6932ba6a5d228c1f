"""Measures how much a strategy keeps between problems: tensors and stored items that can be reached
through its attributes, models and Avalanche's objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from bell_bench_avalanche.data import items_of
from bell_bench_avalanche.library import AvalancheDataset


def stored_bytes(kept: Any) -> int:
    """Return the bytes of all distinct tensors, arrays and dataset items within ``kept``."""
    seen: set[int] = set()
    total, waiting = 0, [kept]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, torch.Tensor):
            total += value.numel() * value.element_size()
        elif isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, AvalancheDataset):
            total += _items(value)
        else:
            waiting += _parts(value)
    return total


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, list | tuple | set):
        return list(value)
    if isinstance(value, torch.optim.Optimizer):
        return list(value.state.values())
    if isinstance(value, torch.nn.Module) or type(value).__module__.startswith("avalanche."):
        return list(vars(value).values())
    return ()


def _items(dataset: Any) -> int:
    """Return the bytes of a buffer's items as they are stored: one byte per pixel, and a class
    each."""
    found = Counter(items for items, _ in items_of(dataset))
    return sum(
        count * (items.inputs.arity * items.inputs.images[0].nbytes + 8)
        for items, count in found.items()
    )
