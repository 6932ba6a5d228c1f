"""Architectures as tuples of typed module specs. Imports no torch: a description, not a network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bell_bench.errors import BellBenchError


@dataclass(frozen=True)
class Type:
    """What one module gives to the next. Two types are equal only if name and shape are equal.

    The name tells types of the same shape apart: 64 features of an image are not 64 features of a
    vector, so a module for one is not offered for the other.
    """

    name: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(str, self.shape))})"


@dataclass(frozen=True)
class ModuleSpec:
    """A module: its kind of computation, the type it takes and the type it gives."""

    kind: str
    """The kind of module: linear, conv, …, or an import string of a suite's own, a subclass of
    ``bell_bench.modular.kind.Block``."""
    source: Type
    target: Type
    activation: str = "relu"
    """relu, softmax, sigmoid or none. The loss of a last module is computed from its logits."""
    settings: tuple[tuple[str, int], ...] = ()
    """Further settings of the kind, e.g. (("kernel", 5), ("stride", 2))."""
    join: int = 1
    """How many per-image outputs are concatenated into this module's input; 2 joins a pair."""

    def setting(self, name: str) -> int:
        """Return one of the ``settings`` by name."""
        return dict(self.settings)[name]

    def __str__(self) -> str:
        return f"{self.kind} {self.source} → {self.target} {self.activation}"

    def to_json(self) -> dict[str, Any]:
        """Return a description that can be written as JSON."""
        return {
            "kind": self.kind,
            "source": [self.source.name, list(self.source.shape)],
            "target": [self.target.name, list(self.target.shape)],
            "activation": self.activation,
            "settings": dict(self.settings),
            "join": self.join,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> ModuleSpec:
        """Return the module that ``to_json`` described."""
        return ModuleSpec(
            kind=data["kind"],
            source=Type(data["source"][0], tuple(data["source"][1])),
            target=Type(data["target"][0], tuple(data["target"][1])),
            activation=data["activation"],
            settings=tuple(data["settings"].items()),
            join=data["join"],
        )


@dataclass(frozen=True)
class Architecture:
    """A chain of typed modules. Modules before the first ``join`` > 1 run once per image."""

    modules: tuple[ModuleSpec, ...]

    def __post_init__(self) -> None:
        if not self.modules:
            raise BellBenchError("an architecture needs at least one module")
        for above, below in zip(self.modules[1:], self.modules[:-1], strict=True):
            if above.source != below.target:
                raise BellBenchError(
                    f"module «{above}» takes {above.source}, but «{below}» gives {below.target}"
                )

    def __len__(self) -> int:
        return len(self.modules)

    def __getitem__(self, layer: int) -> ModuleSpec:
        return self.modules[layer]

    @property
    def joint(self) -> int:
        """The first layer that sees a whole input rather than one image; L if none does."""
        layers = (i for i, spec in enumerate(self.modules) if spec.join > 1)
        return next(layers, len(self))

    @property
    def arity(self) -> int:
        """How many images one input has."""
        return max(spec.join for spec in self.modules)

    @property
    def classes(self) -> int:
        """How many classes the last module distinguishes: two if it has one output."""
        return max(2, *self.modules[-1].target.shape)

    @property
    def key(self) -> str:
        """A hash of the description, part of what determines an evaluation."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> list[dict[str, Any]]:
        """Return a description that can be written as JSON."""
        return [spec.to_json() for spec in self.modules]

    @staticmethod
    def from_json(data: Iterable[Mapping[str, Any]]) -> Architecture:
        """Return the architecture that ``to_json`` described."""
        return Architecture(tuple(map(ModuleSpec.from_json, data)))
