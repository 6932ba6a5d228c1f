"""A job's figures from its raw predictions and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench import metrics
from bell_bench.harness.job import Job
from bell_bench.harness.state import MATRIX_LIMIT
from bell_bench_leaderboard.yardstick import is_standalone, same_problems, yardstick

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Figures:
    """All accuracies of a job that is done, in [0, 1]."""

    learnt: list[float]
    final: list[float]
    matrix: list[list[float]]

    @property
    def metrics(self) -> dict[str, float]:
        return metrics.of_accuracies(self.final, self.learnt)


def array_names(problems: int) -> set[str]:
    """The arrays that the harness keeps for a sequence of so many problems."""
    names = {f"{kind}_{i}" for i in range(problems) for kind in ("labels", "learnt", "final")}
    if problems <= MATRIX_LIMIT:
        names |= {f"after_{t}_{i}" for t in range(problems) for i in range(t + 1)}
    return names


def figures(arrays: Arrays, labels: Sequence[NDArray[Any]]) -> Figures:
    """Score the predictions; all arrays are there, as long as the labels."""

    def accuracy(name: str, index: int) -> float:
        return float(np.mean(arrays[name] == labels[index]))

    count = len(labels)
    rows = range(count) if count <= MATRIX_LIMIT else ()
    return Figures(
        [accuracy(f"learnt_{i}", i) for i in range(count)],
        [accuracy(f"final_{i}", i) for i in range(count)],
        [[accuracy(f"after_{t}_{i}", i) for i in range(t + 1)] for t in rows],
    )


def all_metrics(
    jobs: Mapping[str, Job], done: Mapping[str, Figures]
) -> dict[str, dict[str, float | None]]:
    """A, F, backward transfer and, where the standalone run is among them, Tr⁻¹, by job name."""
    runs: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], Figures]]] = {}
    for name in sorted(done):
        job = vars(jobs[name])
        if is_standalone(job):
            runs.setdefault(same_problems(job), []).append((job, done[name]))
    found: dict[str, dict[str, float | None]] = {}
    for name, own in done.items():
        job = vars(jobs[name])
        other = yardstick(job, runs.get(same_problems(job), []))
        transfer = None if other is None else metrics.last_transfer(own.final, other.final)
        found[name] = {**own.metrics, "Tr_last": transfer}
    return found
