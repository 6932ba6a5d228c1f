"""Measures how hard CTrL's tasks are at a scale: standalone accuracies, by learning rate.

    python studies/ctrl_difficulty.py [--scale quick]
    python studies/ctrl_difficulty.py --on validation --seed 100 --rates 0.002,0.004,0.008,0.016

The tasks are those of s_minus and the first and last of s_in, each trained from scratch without
patience. The second command was used to choose the learning rate of `quick`: it gives validation
accuracies for a seed that belongs to no published realisation.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import torch

from bell_bench import cpu_determinism
from bell_bench.modular.network import scores
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import train
from bell_bench.suites.ctrl.suite import CTRL, CtrlSequence

CPU = torch.device("cpu")
TASKS = [*(("s_minus", position) for position in range(6)), ("s_in", 0), ("s_in", 5)]


def standalone(
    sequence: CtrlSequence, position: int, settings: TrainingSettings, on: str
) -> tuple[float, float]:
    """Return the accuracy in per cent, and the CPU seconds, of a network trained from scratch."""
    problem = sequence.problem(position)
    trained = train(problem, {}, settings, seed=1, init_seed=2, device=CPU)
    if on == "validation":
        return 100 * trained.accuracy, trained.cpu_seconds
    test = sequence.test(position)
    chances = scores(problem.architecture, trained.weights, test.inputs, device=CPU)
    right = chances.argmax(1).numpy() == test.labels
    return 100 * float(right.mean()), trained.cpu_seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", default="quick", choices=CTRL.scales)
    parser.add_argument("--data", default="glyphs", choices=CTRL.sources)
    parser.add_argument("--on", default="test", choices=["test", "validation"])
    parser.add_argument("--seed", type=int, default=0, help="of the streams")
    parser.add_argument("--updates", type=int, help="default: the scale's")
    parser.add_argument("--rates", help="learning rates; default: the scale's")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cpu_determinism.hold()
    made = {
        name: CTRL.sequence(
            name, seed=options.seed, scale=options.scale, protocol="paper", data=options.data
        )
        for name in ("s_minus", "s_in")
    }
    usual = CTRL.scales[options.scale].training
    rates = options.rates.split(",") if options.rates else [usual.learning_rate]
    limit = options.updates or usual.max_updates
    names = [f"{made[name].places[i].name} {made[name].places[i].size}" for name, i in TASKS]
    print(f"| learning rate | {' | '.join(names)} | mean | seconds |")
    for rate in map(float, rates):
        settings = replace(
            usual, learning_rate=rate, max_updates=limit, max_epochs=10**6, patience=10**9
        )
        found = [standalone(made[name], position, settings, options.on) for name, position in TASKS]
        cells = " | ".join(f"{accuracy:.1f}" for accuracy, _ in found)
        mean = sum(accuracy for accuracy, _ in found) / len(found)
        print(
            f"| {rate:g} | {cells} | {mean:.1f} | {sum(seconds for _, seconds in found):.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
