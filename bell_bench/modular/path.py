"""A path: per layer, a library module's name or a new module. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

NEW = "new"
"""Stands for a module to train, in place of a module's name."""


@dataclass(frozen=True)
class ModulePath:
    """Which module each layer uses: the name of a library module, or ``NEW`` to train one."""

    modules: tuple[str, ...]

    @staticmethod
    def standalone(length: int) -> ModulePath:
        """Return the path whose modules are all new."""
        return ModulePath((NEW,) * length)

    @staticmethod
    def prefix(names: Iterable[str], length: int) -> ModulePath:
        """Reuse ``names`` in the first layers and train the rest (perceptual transfer)."""
        reused = tuple(names)
        return ModulePath(reused + (NEW,) * (length - len(reused)))

    @staticmethod
    def suffix(names: Iterable[str], length: int) -> ModulePath:
        """Reuse ``names`` in the last layers and train the rest (latent transfer)."""
        reused = tuple(names)
        return ModulePath((NEW,) * (length - len(reused)) + reused)

    def __len__(self) -> int:
        return len(self.modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    @property
    def new_layers(self) -> tuple[int, ...]:
        """The layers, from 0, whose modules are trained."""
        return tuple(i for i, name in enumerate(self.modules) if name == NEW)

    def __str__(self) -> str:
        return " ".join("·" if name == NEW else name for name in self.modules)
