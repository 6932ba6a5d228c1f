"""A source: nine domains of striped images, for any sequence of BELL with ``--data stripes``."""

import numpy as np

from bell_bench import DomainSizes, SourceDomain

SHAPE, CLASSES = (28, 28), 8
SIZES = DomainSizes(train=4000, validation=800, test=800)
SEEDS = {"train": 0, "validation": 1, "test": 2}


class Stripes:
    """Bars at one of eight heights; the domains differ in how often a bar is repeated."""

    domains = tuple(SourceDomain(f"stripes_{i}", SHAPE, CLASSES, SIZES) for i in range(1, 10))

    def draw(self, name, split, count):
        """Return the first ``count`` images of a split, and their labels."""
        random = np.random.RandomState([int(name[-1]), SEEDS[split]])
        images = random.randint(0, 100, size=(SIZES.train, *SHAPE)).astype(np.uint8)[:count]
        labels = np.arange(count) % CLASSES
        for repeat in range(int(name[-1])):
            images[np.arange(count), (3 * labels + 2 + 3 * repeat) % 28, 2 * repeat :] = 255
        return images, labels


SOURCE = Stripes()
