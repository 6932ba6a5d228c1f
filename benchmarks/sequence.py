"""Measures what fast path evaluation and the shared store save on a whole sequence.

``paths``: every path that PICLE evaluates on one realisation of S_out, trained by our code and, for
as many updates and validations, by plain PyTorch. Plain PyTorch is timed on some updates of each
path, in turns with ours, and scaled. ``store``: all modular algorithms on one store, against each
algorithm alone with an empty store. One process, one thread.

    python benchmarks/sequence.py [paths] [store] [--scale quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import Any

from bell_bench.records import ResultStore

os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "modular"))

ALGORITHMS = ("sa", "rs", "houdini", "mntdp-d", "pt-only", "nt-only", "picle")
SEQUENCE = "S_out"
UPDATES = 8
"""The number of plain updates that are timed for each path."""


def paths(scale: str) -> dict[str, Any]:
    """Return, for PICLE's paths on S_out, the seconds of our code and of plain PyTorch for the same
    updates."""
    import torch
    from reference import PlainTraining

    from bell_bench.harness.context import JobContext
    from bell_bench.harness.plan import Request, make_plan
    from bell_bench.import_strings import load_object
    from bell_bench.modular.evaluator import Evaluator
    from bell_bench.modular.training import Trained, train
    from bell_bench.plugins import registry

    torch.set_num_threads(1)
    spent = {"plain": 0.0, "fast": 0.0, "paths": 0, "updates": 0}

    def contest(problem, frozen, settings, **rest) -> Trained:  # type: ignore[no-untyped-def]
        seeds = {"seed": rest["seed"] % 2**32, "init_seed": rest["init_seed"]}
        plain = PlainTraining(problem, frozen, settings, **seeds)
        start = time.process_time()
        trained = train(problem, frozen, settings, **rest)
        spent["fast"] += time.process_time() - start
        update = median(seconds(plain.update) for _ in range(UPDATES)) if trained.updates else 0.0
        spent["plain"] += update * trained.updates + seconds(plain.validate) * len(trained.history)
        spent["paths"] += 1
        spent["updates"] += trained.updates
        return trained

    job = make_plan(Request(("picle",), sequences=(SEQUENCE,), scale=scale)).asked[0]
    suite = registry().suite(job.suite)
    settings = {"scale": scale, "protocol": job.protocol, "data": job.data}
    sequence = suite.sequence(SEQUENCE, seed=job.realisation_seed, **settings)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        context = JobContext(
            job,
            suite.protocols[job.protocol],
            sequence.settings,
            work=place / "work",
            evaluations=place / "evaluations",
            tell=lambda *event, **facts: None,
        )
        evaluator = context.evaluator
        context.evaluator = Evaluator(
            evaluator.store, evaluator.library, evaluator.settings,
            seed=0, device="cpu", protocol=job.protocol, train=contest,
        )  # fmt: skip
        algorithm = load_object(job.load)(context, **job.options)
        for index in range(len(sequence)):
            algorithm.learn(sequence.problem(index))
            print(f"problem {index + 1}: {spent['paths']} paths", file=sys.stderr)
    return {**spent, "ratio": spent["plain"] / spent["fast"]}


def seconds(function: Any) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def store(scale: str) -> dict[str, Any]:
    """Return the CPU seconds of all algorithms on one store, and of each alone with its own
    store."""
    with tempfile.TemporaryDirectory() as folder:
        together = evaluate(pathlib.Path(folder), ALGORITHMS, scale)
    alone = {}
    for algorithm in ALGORITHMS:
        with tempfile.TemporaryDirectory() as folder:
            alone |= evaluate(pathlib.Path(folder), (algorithm,), scale)
            print(
                f"{algorithm}: {alone[algorithm]:.1f} s alone, {together[algorithm]:.1f} s shared",
                file=sys.stderr,
            )
    return {"together": together, "alone": alone}


def evaluate(out: pathlib.Path, algorithms: tuple[str, ...], scale: str) -> dict[str, float]:
    """Return the CPU seconds of the jobs asked for, without the standalone runs that Tr⁻¹ needs."""
    command = [
        sys.executable, "-m", "bell_bench", "evaluate", "--sequence", SEQUENCE, "--scale", scale,
        "--out", str(out), "--jobs", "1", "--quiet",
        *(part for name in algorithms for part in ("--algo", name)),
    ]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = {}
    for folder in ResultStore(out):
        record = folder.record()
        if record is not None and record.job.algorithm in algorithms:
            used = [problem.resources for problem in record.problems]
            found[record.job.algorithm] = sum(
                each.cpu_s - each.cpu_seconds + each.spent_cpu_seconds for each in used
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=["paths", "store"])
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {}
    for part in options.parts or ["paths", "store"]:
        found[part] = {"paths": paths, "store": store}[part](options.scale)
    if options.json:
        print(json.dumps(found, indent=1))
    if "paths" in found and not options.json:
        row = found["paths"]
        print(
            f"{row['paths']} paths of PICLE on {SEQUENCE}, {row['updates']} updates: "
            f"plain {row['plain']:.1f} s, ours {row['fast']:.1f} s, ratio {row['ratio']:.2f}"
        )
    if "store" in found and not options.json:
        for label, names in (
            ("all modular algorithms", ALGORITHMS),
            ("all but random search, which shares no path", set(ALGORITHMS) - {"rs"}),
        ):
            alone, together = (
                sum(found["store"][how][name] for name in names) for how in ("alone", "together")
            )
            print(
                f"{label}: each alone {alone:.1f} s, on one store {together:.1f} s, "
                f"ratio {alone / together:.2f}"
            )


if __name__ == "__main__":
    main()
