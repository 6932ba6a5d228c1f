"""The nine domains of BELL: grey images of eight classes."""

from __future__ import annotations

from bell_bench.data.catalogue import EMNIST, FASHION, K49, MNIST, Collection
from bell_bench.data.cut import DomainCut
from bell_bench.data.declared import OfficialDomain

CLASSES = 8
SIDE = 28
VALIDATION = 4800

CUT = DomainCut(
    shape=(SIDE, SIDE),
    classes=CLASSES,
    fewest_classes=CLASSES,
    first_classes=True,
    fewest_train=20,  # of which 4 are set aside, and Ψ− still finds its 13 unique ones
    fewest_test=10,
    validation=VALIDATION,
    validation_per_class=False,
)


def _domain(name: str, collection: Collection, *classes: int) -> OfficialDomain:
    return OfficialDomain(name, collection, CUT, classes)


DOMAINS = {
    domain.name: domain
    for domain in (
        _domain("mnist_1", MNIST, *range(8)),
        _domain("fmnist_1", FASHION, *range(8)),
        _domain("k49_1", K49, 0, 1, 2, 4, 5, 6, 7, 8),
        _domain("k49_2", K49, 9, 10, 11, 12, 15, 17, 18, 19),
        _domain("k49_3", K49, 20, 21, 24, 25, 26, 27, 28, 30),
        _domain("k49_4", K49, 34, 35, 37, 38, 39, 40, 41, 46),
        _domain("emnist_1", EMNIST, *range(1, 9)),  # EMNIST counts letters from 1
        _domain("emnist_2", EMNIST, *range(9, 17)),
        _domain("emnist_3", EMNIST, *range(17, 25)),
    )
}
"""In the order of their places."""
