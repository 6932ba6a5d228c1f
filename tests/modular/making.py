"""Small problems, a quick stand-in for training, and a job's context, for the tests beside this."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from typing import Any

import numpy as np
import torch

from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
from bell_bench.modular.blocks import block
from bell_bench.modular.evaluations import EvaluationStore
from bell_bench.modular.evaluator import Evaluator
from bell_bench.modular.library import Library
from bell_bench.modular.path import NEW, ModulePath
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import Trained
from bell_bench.problem import Problem, Split

PIXEL, HIDDEN, CONCEPT = Type("pixel", (6,)), Type("hidden", (5,)), Type("concept", (3,))
PAIR, ANSWER = Type("pair", (4,)), Type("answer", (1,))

LOWER = (
    ModuleSpec("linear", PIXEL, HIDDEN),
    ModuleSpec("linear", HIDDEN, CONCEPT, "softmax"),
)
UPPER = (
    ModuleSpec("linear", CONCEPT, PAIR, join=2),
    ModuleSpec("linear", PAIR, ANSWER, "sigmoid"),
)
PAIRS = Architecture(LOWER + UPPER)
SINGLE = Architecture(LOWER)
SETTINGS = TrainingSettings(batch=8, max_epochs=2, patience=100)


def make_split(seed: int, points: int, pairs: bool) -> Split:
    random = np.random.RandomState(seed)
    images = random.standard_normal((12, 6)).astype(np.float32)
    index = random.randint(0, 12, (points, 2 if pairs else 1)).astype(np.int32)
    labels = random.randint(0, 2 if pairs else 3, points).astype(np.int64)
    return Split(images, index, labels=labels)


def make_problem(index: int = 0, architecture: Architecture = PAIRS) -> Problem:
    pairs = architecture.arity == 2
    return Problem(
        index=index,
        name=f"problem {index}",
        train=make_split(2 * index, 40, pairs),
        validation=make_split(2 * index + 1, 20, pairs),
        classes=2 if pairs else 3,
        architecture=architecture,
    )


@dataclasses.dataclass
class FakeTrain:
    """Training that takes no time: random weights by seed, accuracy from a table by frozen layers.

    Every call appends a line to ``log``, so that several processes can be counted together.
    """

    log: pathlib.Path | None = None
    accuracies: dict[tuple[int, ...], float] = dataclasses.field(default_factory=dict)
    diverged: bool = False
    takes: float = 0.0
    calls: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    def __call__(
        self,
        problem: Problem,
        frozen: Any,
        settings: Any,
        *,
        seed: int,
        init_seed: int,
        **rest: Any,
    ) -> Trained:
        self.calls.append({"frozen": dict(frozen), "seed": seed, "init_seed": init_seed, **rest})
        if self.log:
            with self.log.open("a") as stream:
                stream.write("trained\n")
        time.sleep(self.takes)
        generator = torch.Generator().manual_seed(init_seed)
        weights = {
            layer: block(spec).init(spec, generator)
            for layer, spec in enumerate(problem.architecture.modules)
            if layer not in frozen
        }
        return make_trained(
            weights=weights,
            accuracy=0.0 if self.diverged else self.accuracies.get(tuple(sorted(frozen)), 0.5),
            loss=float("inf") if self.diverged else 0.7,
            diverged=self.diverged,
        )


def make_trained(**changes: Any) -> Trained:
    values: dict[str, Any] = {
        "weights": {},
        "accuracy": 0.5,
        "loss": 0.7,
        "updates": 10,
        "epochs": 2,
        "diverged": False,
        "train_flops": 1000,
        "inference_flops": 100,
        "flop_coverage": 0.9,
        "uncounted": ("aten::relu",),
        "seconds": 3.0,
        "cpu_seconds": 2.5,
        "history": [(0, float("nan"), 0.25), (10, 0.7, 0.5)],
    }
    return Trained(**{**values, **changes})


def make_evaluator(folder: pathlib.Path, train: Any = None, **changes: Any) -> Evaluator:
    settings = changes.pop("settings", SETTINGS)
    store = changes.pop("store", None) or EvaluationStore(folder / "evaluations")
    library = changes.pop("library", None) or Library(folder / "library")
    values = {"seed": 0, "device": "cpu", "protocol": "paper", **changes}
    return Evaluator(store, library, settings, train=train or FakeTrain(), **values)


def solve(evaluator: Evaluator, problem: Problem, *modules: str) -> tuple[str, ...]:
    """Evaluate a path, standalone unless told, and add it to the library."""
    path = ModulePath(modules or (NEW,) * len(problem.architecture))
    return evaluator.library.add(problem, evaluator.evaluate(path, problem))


class FakeContext:
    """What a modular algorithm uses of ``bell_bench.algorithm.Context``."""

    suite = "bell"
    protocol = None
    settings = SETTINGS
    seed = 0
    device = torch.device("cpu")

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.library = evaluator.library
        self.evaluate = evaluator.evaluate
        self.notes: list[dict[str, Any]] = []

    def generator(self, *names: object) -> torch.Generator:
        return torch.Generator().manual_seed(0)

    def prefetch(self, paths: object, problem: object) -> None:
        """Nothing runs ahead here."""

    def account(self, what: str, size: int) -> None:
        raise AssertionError("the library is accounted for by the harness")

    def note(self, **facts: Any) -> None:
        self.notes.append(facts)
