"""The context that a job's algorithm receives."""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import torch

from bell_bench.errors import BellBenchError
from bell_bench.harness.prefetch import Prefetch
from bell_bench.modular import flops
from bell_bench.modular.evaluations import EvaluationStore
from bell_bench.modular.evaluator import Charges, Evaluation, Evaluator
from bell_bench.modular.library import Library
from bell_bench.modular.path import ModulePath
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem
from bell_bench.records import Job


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
        ahead: Prefetch | None = None,
    ) -> None:
        self.suite = job.suite
        self.sequence = job.sequence
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
        self.notes: list[dict[str, Any]] = []
        self.stored: dict[str, list[int]] = {}
        """Bytes and parameters that the algorithm reported, by their label."""
        self._coverages: list[float] = []
        self._uncounted: set[str] = set()
        self._tell = tell
        self._ahead = ahead

    @property
    def charges(self) -> Charges:
        return self.evaluator.charges

    def evaluate(self, path: ModulePath, problem: Problem) -> Evaluation:
        self._tell("trying", problem=problem.index, path=str(path))
        if self._ahead:
            with self.evaluator.spending():
                computed = self._ahead.wait(path, problem, self.evaluator)
            self.charge(paths_computed=int(computed))
        evaluation = self.evaluator.evaluate(path, problem)
        self._cover(evaluation.flop_coverage, evaluation.uncounted)
        self._tell(
            "path", problem=problem.index, path=str(path), accuracy=round(evaluation.accuracy, 4)
        )
        return evaluation

    def prefetch(self, paths: Iterable[ModulePath], problem: Problem) -> None:
        if self._ahead:
            self._ahead.offer(paths, problem)

    def generator(self, *names: object) -> torch.Generator:
        text = "/".join(map(str, (self.seed, *names)))
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1
        return torch.Generator().manual_seed(seed)

    def count(self, function: Callable[[], object]) -> float:
        found = flops.count(function)
        self._cover(found.coverage, found.uncounted)
        return found.flops

    def charge(self, **amounts: float) -> None:
        self.evaluator.charges += Charges(**amounts)  # type: ignore[arg-type]

    def account(self, what: str, size: int, parameters: int = 0) -> None:
        self.stored[what] = [int(size), int(parameters)]

    def note(self, **facts: Any) -> None:
        try:
            json.dumps(facts, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise BellBenchError(f"note({', '.join(facts)}) must be JSON-able: {error}") from error
        self.notes.append(facts)

    def begin(self) -> None:
        """Forget the notes and the prefetched paths of the problem before."""
        if self._ahead:
            self._ahead.forget()
        self.notes, self._coverages, self._uncounted = [], [], set()

    def resources(self) -> dict[str, Any]:
        """Return what the algorithm keeps between problems, and how many FLOPs were counted."""
        sizes, parameters = zip((0, 0), *self.stored.values(), strict=True)
        coverage = sum(self._coverages) / len(self._coverages) if self._coverages else None
        return {
            "stored_bytes": self.library.bytes + sum(sizes),
            "parameters": self.library.parameters + sum(parameters),
            "flop_coverage": coverage,
            "uncounted_operators": sorted(self._uncounted),
        }

    def _cover(self, coverage: float, uncounted: Iterable[str]) -> None:
        self._coverages.append(coverage)
        self._uncounted.update(uncounted)
