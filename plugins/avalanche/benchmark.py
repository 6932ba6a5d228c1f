"""Makes an Avalanche benchmark of a sequence."""

from __future__ import annotations

from typing import Any

from bell_bench.suites.base import Sequence
from bell_bench_avalanche.data import Task, make_dataset
from bell_bench_avalanche.library import (
    benchmark_from_datasets,
    with_classes_timeline,
    with_task_labels,
)


def make_benchmark(sequence: Sequence) -> Any:
    """Return a benchmark with the streams train, valid and test; each experience has its
    ``our_task``."""
    tasks: list[Task] = []
    streams: dict[str, list[Any]] = {"train": [], "valid": [], "test": []}
    for index in range(len(sequence)):
        problem = sequence.problem(index)
        tasks.append(Task.next(problem, tasks))
        splits = (problem.train, problem.validation, sequence.test(index))
        for stream, split in zip(streams.values(), splits, strict=True):
            stream.append(make_dataset(split, tasks[-1]))
    benchmark = with_classes_timeline(with_task_labels(benchmark_from_datasets(**streams)))
    for stream in benchmark.streams.values():
        for experience, task in zip(stream, tasks, strict=True):
            experience.our_task = task
    return benchmark
