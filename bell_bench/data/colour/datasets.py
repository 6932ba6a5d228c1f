"""The six datasets that CTrL's streams draw from: sizes, sources, licences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bell_bench.data.catalogue import COLOUR


@dataclass(frozen=True)
class PoolSizes:
    """How many embedded images there are of each class."""

    train: int
    validation: int
    test: int


@dataclass(frozen=True)
class DatasetInfo:
    """What there is to know of a dataset without its images."""

    name: str
    title: str
    classes: int
    validation_per_class: int
    """How many training images of each class are set aside for validation."""
    embedded: PoolSizes
    stands_in: str
    """What is drawn in its stead when images are embedded."""

    @property
    def licence(self) -> str:
        """Of the real images; the embedded ones are ours, under the MIT licence."""
        return COLOUR[self.name].licence

    @property
    def source(self) -> str:
        """Where the real images are published."""
        return COLOUR[self.name].homepage


_LARGE = PoolSizes(train=1000, validation=500, test=300)

DATASETS: Mapping[str, DatasetInfo] = MappingProxyType(
    {
        info.name: info
        for info in (
            DatasetInfo("cifar10", "CIFAR-10", 10, 500, _LARGE, "objects made of parts"),
            DatasetInfo(
                "cifar100", "CIFAR-100", 100, 50, PoolSizes(450, 50, 100),
                "objects made of parts, in 20 families of 5",
            ),
            DatasetInfo("svhn", "SVHN", 10, 500, _LARGE, "digits in clutter, with neighbours"),
            DatasetInfo("dtd", "DTD", 47, 27, PoolSizes(53, 27, 40), "textures"),
            DatasetInfo("mnist", "MNIST", 10, 500, _LARGE, "digits"),
            DatasetInfo("fashion_mnist", "Fashion-MNIST", 10, 500, _LARGE, "garments"),
        )
    }
)  # fmt: skip
