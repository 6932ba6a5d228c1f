"""Measures training a path: milliseconds per update, fast against plain PyTorch, one thread.

Width 64. BELL: batches of 32 pairs whose 64 images are all distinct, as in a Ψ+ problem (if images
repeat, as in Ψ−, the fast code is faster still: see the last row). With all modules frozen there is
no update, only one validation of 1,000 pairs of 960 images. CTrL: batches of 64 images of 32x32 in
colour. Plain and fast take turns. The figures are medians of CPU time; with one thread, it differs
from clock time only by other load on the machine. The plain code is the reference of the tests,
tests/modular/reference.py.

    python benchmarks/path_training.py [--suite bell | --suite ctrl] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "modular"))

import numpy as np
import torch
from made_problems import coloured, library, pairs
from reference import PlainTraining
from torch import Tensor

from bell_bench import cpu_determinism
from bell_bench.modular.cost import cost
from bell_bench.modular.learner import Learner
from bell_bench.modular.prefix import Budget
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import deterministic, train, updates
from bell_bench.problem import Problem

CPU = torch.device("cpu")
SETTINGS = TrainingSettings()
WIDTH, EPOCH = 64, 16
POINTS = EPOCH * SETTINGS.batch
PATHS = {
    "standalone": range(0),
    "5 new + 3 frozen": range(5, 8),
    "first 1 frozen": range(1),
    "first 2 frozen": range(2),
    "first 5 frozen": range(5),
}
PLAIN_UPDATES, FAST_UPDATES = 4, EPOCH
CTRL_SETTINGS = TrainingSettings(
    learning_rate=1e-3, weight_decay=1e-3, optimiser="adam", batch=64, max_epochs=100
)
CTRL_PATHS = {
    "ctrl: standalone": range(0),
    "ctrl: first 1 frozen": range(1),
    "ctrl: first 2 frozen": range(2),
    "ctrl: first 4 frozen": range(4),
    "ctrl: 2 new + 3 frozen": range(2, 5),
}


def distinct(problem: Problem) -> Problem:
    """Return the same problem, but no image is in two inputs."""
    shape = problem.train.index.shape
    index = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    return replace(problem, train=replace(problem.train, index=index))


def milliseconds(stream: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        stream()
    return (time.process_time() - start) / times * 1000


def fast_updates(problem: Problem, layers: range, settings: TrainingSettings) -> Iterator[Tensor]:
    frozen = library(problem.architecture, layers)
    learner = Learner(
        problem.architecture, frozen, settings, init_seed=0, device=CPU, dtype=torch.float32
    )
    return updates(learner, problem.train, settings.batch, seed=0, budget=Budget(None))


def contest(
    problem: Problem,
    paths: dict[str, range],
    repeats: int,
    settings: TrainingSettings = SETTINGS,
) -> list[dict[str, object]]:
    """Measure plain and fast updates of each path, in turns."""
    plain, fast = {}, {}
    for name, layers in paths.items():
        frozen = library(problem.architecture, layers)
        plain[name] = PlainTraining(problem, frozen, settings, seed=0, init_seed=0).update
        fast[name] = fast_updates(problem, layers, settings).__next__
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in paths}
    for repeat in range(repeats + 1):
        for name, (slow, quick) in times.items():
            measured = milliseconds(plain[name], PLAIN_UPDATES)
            with deterministic(CPU):
                faster = milliseconds(fast[name], FAST_UPDATES)
            if repeat:  # the first warms up
                slow.append(measured)
                quick.append(faster)
    return [row(name, median(slow), median(quick)) for name, (slow, quick) in times.items()]


def all_frozen() -> dict[str, object]:
    """Measure plain validation on pairs and our whole evaluation; neither makes an update."""
    problem = pairs(WIDTH, images=960, validation=1000)
    frozen = library(problem.architecture, range(8))
    plain = PlainTraining(problem, frozen, SETTINGS, seed=0, init_seed=0)

    def evaluate() -> None:
        trained = train(problem, frozen, SETTINGS, seed=0, init_seed=0, device=CPU)
        assert trained.updates == 0

    times = [(milliseconds(plain.validate, 1), milliseconds(evaluate, 1)) for _ in range(6)][1:]
    return row("all frozen (one pass)", *(median(column) for column in zip(*times, strict=True)))


def row(path: str, plain_ms: float, fast_ms: float) -> dict[str, object]:
    return {
        "path": path,
        "plain_ms": round(plain_ms, 3),
        "fast_ms": round(fast_ms, 3),
        "ratio": round(plain_ms / fast_ms, 2),
    }


def gemm_milliseconds() -> float:
    """Return the milliseconds of a standalone update's matrix products alone, on 64 images and 32
    pairs."""
    images, inputs = 64, 32
    shapes = [(images * 144, 25, WIDTH), (images * 16, 25 * WIDTH, WIDTH)]
    shapes += [(images, 16 * WIDTH, 64), (images, 64, 64), (images, 64, 8)]
    shapes += [(inputs, 16, 64), (inputs, 64, 64), (inputs, 64, 1)]
    total = 0.0
    for layer, (m, k, n) in enumerate(shapes):
        x, w, y = torch.randn(m, k), torch.randn(k, n), torch.randn(m, n)
        total += repeated(lambda x=x, w=w: x @ w) + repeated(lambda x=x, y=y: x.t() @ y)
        total += repeated(lambda y=y, w=w: y @ w.t()) if layer else 0.0
    return total


def repeated(function: Callable[[], object]) -> float:
    return median(milliseconds(function, 1) for _ in range(30))


def peak_gflops() -> float:
    a = torch.randn(1024, 1024)
    return 2 * 1024**3 / repeated(lambda: a @ a) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, default="bell", help="whose architecture")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.add_argument("--repeats", type=int, default=11)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cpu_determinism.hold()
    rows = list(SUITES[options.suite](options.repeats))
    print(json.dumps(rows, indent=1) if options.json else report(rows))


def bell(repeats: int) -> list[dict[str, object]]:
    problem = pairs(WIDTH, points=POINTS, images=2 * POINTS)
    rows = contest(distinct(problem), PATHS, repeats)
    rows.append(all_frozen())
    repeating = pairs(WIDTH, points=POINTS, images=100)
    rows += contest(repeating, {"standalone": range(0)}, repeats // 2)
    rows[-1]["path"] = "standalone, 100 images"
    flops = cost(problem.architecture, frozenset(), SETTINGS, SETTINGS.batch, CPU).step
    rows[0]["gemm_ms"] = round(gemm_milliseconds(), 3)
    rows[0]["gflops"] = round(flops / rows[0]["fast_ms"] / 1e6, 1)
    rows[0]["peak_gflops"] = round(peak_gflops(), 1)
    return rows


def ctrl(repeats: int) -> list[dict[str, object]]:
    points = EPOCH * CTRL_SETTINGS.batch
    problem = distinct(coloured(WIDTH, side=32, points=points, images=points))
    return contest(problem, CTRL_PATHS, repeats, CTRL_SETTINGS)


SUITES = {"bell": bell, "ctrl": ctrl}


def report(rows: list[dict[str, object]]) -> str:
    lines = [f"{'path':24}{'plain_ms':>10}{'fast_ms':>10}{'ratio':>8}"]
    for entry in rows:
        lines.append("{path:24}{plain_ms:10.3f}{fast_ms:10.3f}{ratio:8.2f}".format(**entry))
    first = rows[0]
    if "gemm_ms" not in first:
        return "\n".join(lines)
    share, peak = first["gemm_ms"] / first["fast_ms"], first["gflops"] / first["peak_gflops"]
    lines.append(
        f"standalone update: {share:.0%} of the rate of its bare matrix products"
        f" ({first['gemm_ms']} ms); {first['gflops']} GFLOP/s, {peak:.0%} of a 1024³ product's"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
