"""A problem as an algorithm sees it: unique images, rows of indices into them, and labels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bell_bench.modular.architecture import Architecture

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]


def hash_arrays(arrays: Iterable[Array]) -> str:
    """Return a hash of values, shapes and types that is the same on every machine."""
    digest = hashlib.sha256()
    for array in arrays:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(f"{little.dtype.str}{little.shape}".encode())
        digest.update(np.ascontiguousarray(little).data)
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Inputs:
    """Inputs without labels. Input i consists of the images ``images[index[i]]``."""

    images: Array
    """Unique images, (u, ...): uint8 as stored, or float32."""
    index: NDArray[np.int32]
    """(n, arity): which images form each input; arity 2 for pairs, 1 for single images."""
    mean: float = 0.0
    std: float = 1.0

    def __len__(self) -> int:
        return len(self.index)

    @property
    def arity(self) -> int:
        return int(self.index.shape[1])

    def pixels(self) -> NDArray[np.float32]:
        """Return the unique images, standardised, as float32."""
        scaled = (self.images.astype(np.float32) - np.float32(self.mean)) / np.float32(self.std)
        return np.asarray(scaled, dtype=np.float32)

    def tensors(self, device: torch.device | str = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
        """Return ``pixels()`` and ``index`` as tensors on a device: ``images[index]`` is
        (n, arity, …)."""
        import torch

        images = torch.from_numpy(self.pixels()).to(device)
        return images, torch.from_numpy(self.index).to(device, torch.int64)


@dataclass(frozen=True, eq=False)
class Split(Inputs):
    """Inputs with their labels: a training, validation or test set."""

    labels: NDArray[np.int64] = field(kw_only=True)

    @property
    def inputs(self) -> Inputs:
        """The same inputs without their labels."""
        return Inputs(self.images, self.index, self.mean, self.std)

    def subset(self, items: Sequence[int] | NDArray[np.int64]) -> Split:
        """Return some items, in this order, with only the images that they need."""
        images, index = np.unique(self.index[items], return_inverse=True)
        return replace(
            self,
            images=np.asarray(self.images[images]),
            index=index.reshape(len(items), self.arity).astype(np.int32),
            labels=self.labels[items],
        )

    @property
    def fingerprint(self) -> str:
        scale = np.array([self.mean, self.std], dtype=np.float64)
        return hash_arrays([self.images, self.index, self.labels, scale])


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem of a sequence, as handed to an algorithm: no test data, no later problems."""

    index: int
    """Position in its sequence, from 0."""
    name: str
    """A name for people, e.g. ``emnist_1/XOR perm1``."""
    train: Split
    validation: Split
    classes: int
    """How many classes there are: 2 for a binary problem."""
    architecture: Architecture
    """The typed modules that the suite's network for this problem is made of."""
    fingerprint: str = ""
    """Hash of the training and validation arrays, the same on every machine."""

    def __post_init__(self) -> None:
        if not self.fingerprint:
            parts = f"{self.train.fingerprint} {self.validation.fingerprint} {self.classes}"
            object.__setattr__(self, "fingerprint", hashlib.sha256(parts.encode()).hexdigest())
