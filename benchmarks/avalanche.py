"""Measures the cost of Avalanche's training loop against a bare loop of the same updates.

``template``: the strategy template fed with whole batches, as O-EWC and ER use it. ``items``: an
unmodified strategy (Naive), whose data loader reads item by item. On the first problem of S_pl;
medians of interleaved repeats, CPU time, one thread.

    python benchmarks/avalanche.py [--scale quick] [--updates 50] [--repeats 15] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from itertools import islice
from statistics import median
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
sys.path = [
    path for path in sys.path if not path.endswith("benchmarks")
]  # it must not hide the library


def contest(scale: str, updates: int, repeats: int) -> dict[str, Any]:
    """Return milliseconds per update of each loop, and their ratios to the bare loop."""
    import torch

    from bell_bench.import_strings import load_object
    from bell_bench.modular.module import optimiser
    from bell_bench.modular.shared_algorithm import training_batches
    from bell_bench.plugins import registry
    from bell_bench_avalanche.data import Task, make_dataset, make_experience
    from bell_bench_avalanche.library import SupervisedPlugin
    from bell_bench_avalanche.model import MultiHead
    from bell_bench_avalanche.plugin_algorithm import Epochs, OnEpochs

    torch.set_num_threads(1)
    suite = registry().suite("bell")
    seed = suite.realisation_seed("S_pl", 0)
    sequence = suite.sequence("S_pl", seed=seed, scale=scale, protocol="paper", data="glyphs")
    problem, settings, device = sequence.problem(0), sequence.settings, torch.device("cpu")
    task = Task.next(problem, [])
    experience = make_experience(make_dataset(problem.train, task), task)

    class Stop(SupervisedPlugin):
        def before_training_exp(self, strategy: Any, **kwargs: Any) -> None:
            self.left = updates

        def after_training_iteration(self, strategy: Any, **kwargs: Any) -> None:
            self.left -= 1
            if not self.left:
                strategy.stop_training()

    def prepared() -> tuple[Any, Any, Epochs]:
        model = MultiHead(0)
        model.adaptation(experience)
        stream = training_batches(problem, settings.batch, 0, device, augmented=False)
        epochs = Epochs(stream, math.ceil(len(problem.train) / settings.batch), task)
        return model.train(), optimiser(model.parameters(), settings), epochs

    def bare() -> Callable[[], None]:
        model, optimizer, epochs = prepared()

        def run() -> None:
            for inputs, classes, _, tasks in islice(iter(epochs), updates):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(inputs, tasks), classes).backward()
                optimizer.step()

        return run

    def by(kind: Any, **more: Any) -> Callable[[], None]:
        model, optimizer, _ = prepared()
        strategy = kind(
            model=model, optimizer=optimizer, criterion=torch.nn.CrossEntropyLoss(),
            train_mb_size=settings.batch, plugins=[Stop()], evaluator=None, **more,
        )  # fmt: skip
        return lambda: strategy.train(experience, eval_streams=[])

    runs = {
        "bare": bare(),
        "template": by(OnEpochs, epochs=prepared()[2]),
        "items": by(load_object("avalanche.training.supervised:Naive")),
    }
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for repeat in range(repeats + 1):
        for name, run in runs.items():
            start = time.process_time()
            run()
            if repeat:  # the first warms up
                spent[name].append((time.process_time() - start) / updates)
    each = {name: median(times) for name, times in spent.items()}
    ratios = {name: each[name] / each["bare"] for name in ("template", "items")}
    return {"ms_per_update": {k: 1000 * v for k, v in each.items()}, "ratio": ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = contest(options.scale, options.updates, options.repeats)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    each, ratios = found["ms_per_update"], found["ratio"]
    print(f"bare loop: {each['bare']:.2f} ms per update")
    print(f"template fed by batches: {each['template']:.2f} ms, ratio {ratios['template']:.2f}")
    print(f"Naive, item by item: {each['items']:.2f} ms, ratio {ratios['items']:.2f}")


if __name__ == "__main__":
    main()
