"""Algorithms whose state is tensors: they are kept by name, saved, loaded and accounted for."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

from bell_bench.algorithm import Algorithm, Context
from bell_bench.files import read_tensors, write_tensors

if TYPE_CHECKING:
    from torch import Tensor

_FILE = "kept.safetensors"


class KeepingAlgorithm(Algorithm):
    """An algorithm that keeps all it needs between problems in ``kept``, by ``keep``: saving,
    loading and accounting are inherited."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.kept: dict[str, Tensor] = {}
        """The kept tensors, by name."""

    def keep(self, name: str, tensor: Tensor) -> None:
        """Keep a copy of a tensor on the job's device; it replaces the one that had this name."""
        self.kept[name] = tensor.detach().to(self.context.device, copy=True)
        self.context.account("kept", sum(kept.nbytes for kept in self.kept.values()))

    def kept_under(self, prefix: str) -> dict[str, Tensor]:
        """Return what was kept under names that begin with ``prefix``, by the rest of the name."""
        return {k.removeprefix(prefix): v for k, v in self.kept.items() if k.startswith(prefix)}

    def save(self, folder: pathlib.Path) -> None:
        write_tensors(folder / _FILE, self.kept)

    def load(self, folder: pathlib.Path) -> None:
        found = read_tensors(folder / _FILE)
        self.kept = {name: tensor.to(self.context.device) for name, tensor in found.items()}
