"""Measures the time of a table and a page of 1,000 runs, from reading and recomputing to printing.

python benchmarks/leaderboard.py [RUNS]

The runs are invented, but as large as those of picle at quick: six problems of 2,000 test points,
the whole accuracy matrix in predictions.npz, 30 KB of notes in record.json, which is sealed. As in
real runs, the predictions of algorithms that share parameters change after every problem, and those
of other algorithms do not.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from bell_bench.files import write_arrays
from bell_bench.records import Environment, Job, JobFolder, Record, Resources, SolvedProblem

LIMIT = 2.0
"""The seconds that the import and the table may take."""
PROBLEMS, POINTS, NOTES = 6, 2000, 5000
ALGORITHMS = ("sa", "picle", "pt-only", "nt-only", "mntdp-d", "houdini", "rs", "er", "o-ewc", "lmc")
FORGETFUL = ("er", "o-ewc", "lmc")
SEQUENCES = tuple(f"S_{name}" for name in ("pl", "minus", "plus", "out", "out_star",
                                           "out_star_star", "in", "few", "sp", "x"))  # fmt: skip


def make_runs(folder: pathlib.Path, count: int) -> None:
    """Write ``count`` jobs, over ten algorithms and ten sequences."""
    random = np.random.RandomState(0)
    for number in range(count):
        algorithm, rest = number % len(ALGORITHMS), number // len(ALGORITHMS)
        sequence, realisation = rest % len(SEQUENCES), rest // len(SEQUENCES)
        make_run(
            folder / f"job-{number:05d}",
            Job(algorithm=ALGORITHMS[algorithm], load="x:X", provider="bell-bench 0.1.0",
                suite="bell", suite_version="1", sequence=SEQUENCES[sequence],
                realisation=realisation, realisation_seed=30 + realisation, seed=0,
                scale="quick", data="glyphs", protocol="paper", options={"k": 20},
                software="bell-bench 0.1.0, torch 2"),
            0.6 + 0.02 * algorithm + 0.02 * random.normal(),
            random,
        )  # fmt: skip


def make_run(folder: pathlib.Path, job: Job, skill: float, random: np.random.RandomState) -> None:
    """Write one job: predictions that are right about as often as ``skill`` says, and their
    record."""
    labels = [random.randint(0, 2, POINTS).astype(np.uint8) for _ in range(PROBLEMS)]
    arrays = {f"labels_{i}": label for i, label in enumerate(labels)}
    matrix = []
    for t in range(PROBLEMS):
        for i in range(t + 1):
            if i < t and job.algorithm not in FORGETFUL:
                arrays[f"after_{t}_{i}"] = arrays[f"after_{i}_{i}"]
                continue
            wrong = random.random_sample(POINTS) > skill
            arrays[f"after_{t}_{i}"] = labels[i] ^ wrong.astype(np.uint8)
        matrix.append([float(np.mean(arrays[f"after_{t}_{i}"] == labels[i])) for i in range(t + 1)])
    for i in range(PROBLEMS):
        arrays[f"learnt_{i}"] = arrays[f"after_{i}_{i}"]
        arrays[f"final_{i}"] = arrays[f"after_{PROBLEMS - 1}_{i}"]
    resources = Resources(
        wall_s=3.0, cpu_s=2.0, updates=900, train_flops=3e10 / skill, paths_evaluated=8,
        paths_trained=4, peak_memory_bytes=4e8 * skill, stored_bytes=5e5, flop_coverage=0.4,
    )  # fmt: skip
    problems = [
        SolvedProblem(
            index=i, name=f"problem {i}", classes=2, resources=resources,
            fingerprint=f"{job.sequence}{job.realisation}{i}", test_fingerprint=f"t{i}",
            path=["new"] * 8, notes=[{"tried": ["1.1 2.2 3.3"] * (NOTES // 15)}],
            accuracy_learnt=matrix[i][i], accuracy_final=matrix[-1][i],
        )
        for i in range(PROBLEMS)
    ]  # fmt: skip
    record = Record(status="done", job=job, problems=problems, matrix=matrix,
                    environment=Environment(python="3.11"))  # fmt: skip
    folder.mkdir(parents=True)
    JobFolder(folder).write(record)
    write_arrays(folder / "predictions.npz", arrays)


PLAIN = """
import json, pathlib, sys
import numpy as np
for folder in pathlib.Path(sys.argv[1]).iterdir():
    record = json.loads((folder / "record.json").read_text())
    with np.load(folder / "predictions.npz", allow_pickle=False) as found:
        labels = [found[f"labels_{i}"] for i in range(len(record["problems"]))]
        for t, row in enumerate(record["matrix"]):
            for i, stated in enumerate(row):
                assert abs(np.mean(found[f"after_{t}_{i}"] == labels[i]) - stated) < 1e-6
"""
"""The least that a table must do, written plainly: read each run and compare its matrix with its
predictions. It has no seals, intervals, ranks or table."""


def seconds(*command: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place, "runs")
        make_runs(folder, count)
        command = ("-m", "bell_bench", "leaderboard", str(folder))
        page = pathlib.Path(place, "page.html")
        best = {
            "import bell_bench_leaderboard": min(
                seconds("-c", "import bell_bench_leaderboard") for _ in range(3)
            ),
            f"table of {count} runs": min(seconds(*command) for _ in range(3)),
            "plain reading and comparing": min(seconds("-c", PLAIN, str(folder)) for _ in range(3)),
            f"table and page of {count} runs": seconds(*command, "--html", str(page)),
        }
        for what, taken in best.items():
            print(f"{what:32}{taken:8.2f} s")
        print(f"{'page':32}{page.stat().st_size / 1024**2:8.2f} MiB")
    late = best[f"table of {count} runs"] > LIMIT
    print(f"limit for the table: {LIMIT:g} s{': too slow' if late else ''}")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
