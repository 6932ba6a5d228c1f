"""The six datasets of CTrL: colour images, all classes of each."""

from __future__ import annotations

from bell_bench.data.catalogue import CIFAR10, CIFAR100, DTD, FASHION, MNIST, SVHN, Collection
from bell_bench.data.cut import DomainCut
from bell_bench.data.declared import OfficialDomain
from bell_bench.data.domain import UNLIMITED, DomainSizes

SIDE = 32
FEWEST_CLASSES = 10
"""A task has all classes of a dataset, or 10 of DTD's, or 5."""


def _domain(
    name: str,
    collection: Collection,
    classes: int = 10,
    validation: int = 500,
    sizes: DomainSizes = UNLIMITED,
) -> OfficialDomain:
    """A dataset, with the number of training images of each class set aside for validation."""
    cut = DomainCut(
        shape=(SIDE, SIDE, 3),
        classes=classes,
        fewest_classes=FEWEST_CLASSES,
        first_classes=False,
        fewest_train=10,  # of which half are set aside; the smallest tasks still find 5 and 3
        fewest_test=5,
        validation=validation,
        validation_per_class=True,
    )
    return OfficialDomain(name, collection, cut, sizes=sizes)


DOMAINS = {
    domain.name: domain
    for domain in (
        _domain("cifar10", CIFAR10),
        _domain("cifar100", CIFAR100, 100, 50, DomainSizes(train=45_000, validation=5_000)),
        _domain("svhn", SVHN),
        _domain("dtd", DTD, 47, 27),
        _domain("mnist", MNIST),
        _domain("fashion_mnist", FASHION),
    )
}
"""In the order of their places."""
