"""A suite of points, not images, with modules of its own. Nothing here imports torch."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bell_bench import (
    Architecture,
    ModuleSpec,
    Problem,
    SequenceInfo,
    Split,
    TrainingSettings,
    Type,
)

POINT, HIDDEN, ANSWER = Type("point", (8,)), Type("hidden", (16,)), Type("answer", (1,))
NETWORK = Architecture(
    (
        ModuleSpec("my_kind:Near", POINT, HIDDEN, "none"),
        ModuleSpec("linear", HIDDEN, ANSWER, "sigmoid"),
    )
)
SIZES = {"train": 200, "validation": 50, "test": 100}


@dataclass(frozen=True)
class Blobs:
    """One realisation: problem i is again problem 0 if ``same``, else has centres of its own."""

    seed: int
    same: bool
    settings = TrainingSettings(learning_rate=0.01, weight_decay=0.0, max_epochs=20, patience=100)
    domains = ()

    def __len__(self):
        return 3

    def missing(self):
        return {}

    def split(self, index, name):
        centres = np.random.RandomState([self.seed, 0 if self.same else index]).randn(2, 8)
        random = np.random.RandomState([self.seed, index, sorted(SIZES).index(name) + 10])
        labels = random.randint(0, 2, size=SIZES[name])
        points = centres[labels] + random.randn(SIZES[name], 8)
        rows = np.arange(SIZES[name], dtype=np.int32)[:, None]
        return Split(points.astype(np.float32), rows, labels=labels.astype(np.int64))

    def problem(self, index):
        train, validation = self.split(index, "train"), self.split(index, "validation")
        return Problem(index, f"blobs {index + 1}", train, validation, 2, NETWORK)

    def test(self, index):
        return self.split(index, "test")

    def describe(self):
        return [{"name": f"blobs {index + 1}", "same": self.same} for index in range(len(self))]


class Suite:
    name = "blobs"
    version = "1"
    sequences: ClassVar = {
        "same": SequenceInfo("same", "reuse", "One problem three times.", 3),
        "other": SequenceInfo("other", "plasticity", "Three problems.", 3),
    }
    scales: ClassVar = {"tiny": {"points": 200}}
    protocols: ClassVar = {"plain": {}}
    sources: ClassVar = {"drawn": "drawn from the seed"}

    def realisation_seed(self, sequence, realisation):
        return 100 + realisation

    def sequence(self, name, *, seed, scale, protocol, data):
        return Blobs(seed, same=name == "same")


SUITE = Suite()
