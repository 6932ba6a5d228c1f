"""Computes a job's figures from its raw predictions and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.records import LONG, SCORES, Job, JobAccuracies, standalone_run

Arrays = Mapping[str, NDArray[Any]]


def array_names(problems: int) -> set[str]:
    """Return the names of the arrays that the harness keeps for a sequence of ``problems``
    problems."""
    names = {f"{kind}_{i}" for i in range(problems) for kind in ("labels", "learnt", "final")}
    if problems <= LONG:
        names |= {f"after_{t}_{i}" for t in range(problems) for i in range(t + 1)}
    return names


def figures(arrays: Arrays, labels: Sequence[NDArray[Any]]) -> JobAccuracies:
    """Score the predictions. All arrays must be there, and be as long as the labels."""

    def accuracy(name: str, index: int) -> float:
        return float(np.mean(arrays[name] == labels[index]))

    count = len(labels)
    rows = range(count) if count <= LONG else ()
    return JobAccuracies(
        final=[accuracy(f"final_{i}", i) for i in range(count)],
        learnt=[accuracy(f"learnt_{i}", i) for i in range(count)],
        matrix=[[accuracy(f"after_{t}_{i}", i) for i in range(t + 1)] for t in rows],
    )


def all_scores(
    jobs: Mapping[str, Job], done: Mapping[str, JobAccuracies]
) -> dict[str, dict[str, float | None]]:
    """Return every score by job name and by the score's name in submissions. Scores against the
    standalone run are there if that run is among the jobs."""
    runs: dict[tuple[Any, ...], list[tuple[Job, JobAccuracies]]] = {}
    for name in sorted(done):
        job = jobs[name]
        if job.is_standalone:
            runs.setdefault(job.problems, []).append((job, done[name]))
    found: dict[str, dict[str, float | None]] = {}
    for name, own in done.items():
        other = standalone_run(jobs[name], runs.get(jobs[name].problems, []))
        whole = replace(own, standalone=None if other is None else other.final)
        found[name] = {score.key: score.of(whole) for score in SCORES}
    return found
