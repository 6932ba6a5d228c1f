"""Prints what long sequences cost: accuracy, FLOPs, seconds and memory per algorithm, as Markdown.

python studies/long.py [RUNS …]

It reads stored runs only: folders or submissions, by default ./runs. Each long sequence and setting
with done jobs has a table of means over these jobs. "Over SA" is the gain over the standalone run
on the same realisation and seed. "Besides paths" is the share of CPU seconds not spent on
evaluating paths, but on statistics, neighbours and the GP.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from statistics import mean
from typing import Any

from bell_bench.records import LONG, Record, read_records
from bell_bench_leaderboard.boards import SETTINGS, labels
from bell_bench_leaderboard.rows import result_row

EARLY = 10
"""The problem whose peak memory is compared with that of the last one."""
COLUMNS = ("", "jobs", "A", "over SA", "training TFLOPs", "other TFLOPs", "CPU seconds",
           "besides paths", f"peak MiB at problem {EARLY}", "at the last", "ratio")  # fmt: skip


def accuracy(record: Record) -> float:
    return 100 * mean(float(problem.accuracy_final) for problem in record.problems)


def total(record: Record, name: str) -> float:
    return sum(float(getattr(problem.resources, name)) for problem in record.problems)


def peak(record: Record, problem: int) -> float:
    return float(record.problems[problem].resources.peak_memory_bytes) / 1024**2


def cells(jobs: list[Record], standalone: Mapping[Any, Record]) -> Iterator[str]:
    """Yield the cells of a row, except for the algorithm's name."""
    gains = [accuracy(job) - accuracy(standalone[run]) for job in jobs
             if (run := place(job)) in standalone]  # fmt: skip
    seconds, on_paths, evaluated = (
        sum(total(job, name) for job in jobs)
        for name in ("cpu_s", "cpu_seconds", "paths_evaluated")
    )
    early, late = (mean(peak(job, problem) for job in jobs) for problem in (EARLY - 1, -1))
    yield str(len(jobs))
    yield f"{mean(map(accuracy, jobs)):.2f}"
    yield f"{mean(gains):+.2f}" if len(gains) == len(jobs) else "–"
    for flops in ("train_flops", "inference_flops"):
        yield f"{mean(total(job, flops) for job in jobs) / 1e12:.3g}"
    yield f"{seconds / len(jobs):,.0f}"
    yield f"{1 - on_paths / seconds:.1%}" if evaluated and seconds else "–"
    yield f"{early:.0f}"
    yield f"{late:.0f}"
    yield f"{late / early:.2f}"


def place(record: Record) -> tuple[int, int]:
    return record.job.realisation, record.job.seed


def tables(records: Iterable[Record]) -> Iterator[str]:
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        job = record.job
        if record.done and len(record.problems) > LONG:
            key = (job.sequence, *(getattr(job, name) for name in SETTINGS))
            groups.setdefault(key, []).append(record)
    for (sequence, *setting), jobs in groups.items():
        yield f"\n{sequence}: " + ", ".join(
            f"{name} {value}" for name, value in zip(SETTINGS, setting, strict=True)
        )
        yield f"\n| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}"
        by_name: dict[str, list[Record]] = {}
        rows = [result_row(record, None) for record in jobs]
        for name, record in zip(labels(rows), jobs, strict=True):
            by_name.setdefault(name, []).append(record)
        standalone = {place(job): job for job in by_name.get("sa", ())}
        for name in sorted(by_name, key=lambda name: total(by_name[name][0], "train_flops")):
            yield f"| {name} | {' | '.join(cells(by_name[name], standalone))} |"


def main(runs: list[pathlib.Path]) -> int:
    found = list(tables(read_records(runs)))
    print("\n".join(found) if found else "no long sequence has been completed here")
    return int(not found)


if __name__ == "__main__":
    sys.exit(main([pathlib.Path(each) for each in sys.argv[1:]] or [pathlib.Path("runs")]))
