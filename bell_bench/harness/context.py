"""The context that a job's algorithm is handed."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Callable
from typing import Any

import torch

from bell_bench.harness.job import Job
from bell_bench.modular.evaluations import EvaluationStore
from bell_bench.modular.evaluator import Charges, Evaluation, Evaluator
from bell_bench.modular.library import Library
from bell_bench.modular.path import Path
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem


class JobContext:
    """Everything that ``bell_bench.algorithm.Context`` promises, for one job."""

    def __init__(
        self,
        job: Job,
        protocol: Any,
        settings: TrainingSettings,
        *,
        work: pathlib.Path,
        evaluations: pathlib.Path,
        tell: Callable[..., None],
    ) -> None:
        self.suite = job.suite
        self.protocol = protocol
        self.settings = settings
        self.seed = job.seed
        self.device = torch.device(job.device)
        self.library = Library(work / "library")
        self.evaluator = Evaluator(
            EvaluationStore(evaluations),
            self.library,
            settings,
            seed=job.seed,
            device=self.device,
            protocol=job.protocol,
        )
        self.stored: dict[str, int] = {}
        self.notes: list[dict[str, Any]] = []
        self._tell = tell

    @property
    def charges(self) -> Charges:
        return self.evaluator.charges

    def evaluate(self, path: Path, problem: Problem) -> Evaluation:
        self._tell("trying", problem=problem.index, path=str(path))
        evaluation = self.evaluator.evaluate(path, problem)
        self._tell(
            "path", problem=problem.index, path=str(path), accuracy=round(evaluation.accuracy, 4)
        )
        return evaluation

    def generator(self, *names: object) -> torch.Generator:
        text = "/".join(map(str, (self.seed, *names)))
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1
        return torch.Generator().manual_seed(seed)

    def account(self, what: str, size: int) -> None:
        self.stored[what] = int(size)

    def note(self, **facts: Any) -> None:
        self.notes.append(facts)

    def progress(self, **facts: Any) -> None:
        self._tell("progress", **facts)

    @property
    def stored_bytes(self) -> int:
        """What the algorithm keeps between problems: its library, and what it accounted for."""
        return self.library.bytes + sum(self.stored.values())
