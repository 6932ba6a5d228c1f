"""Measures how hard a source's domains are: standalone test accuracy by domain and problem kind.

    python studies/glyph_difficulty.py                      # all 36 problems: hours
    python studies/glyph_difficulty.py --kinds minus,few --domains mnist_1 --data images
    python studies/glyph_difficulty.py --kinds latent --learning-rate 0.0006 --max-updates 4000

Each problem is the first of its domain and kind among the published realisations, trained from
scratch as in the paper, unless options make it faster. The embedded glyphs were calibrated with
this measure and no other.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

import torch

from bell_bench import cpu_determinism
from bell_bench.modular.network import scores
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import train
from bell_bench.suites.bell.domains import DOMAINS
from bell_bench.suites.bell.suite import BELL, BellSequence

PUBLISHED = {"plus": 93.6, "minus": 70.0, "latent": 66.0, "few": 50.0}
CHANGEABLE = {
    "learning_rate": float,
    "weight_decay": float,
    "patience": int,
    "max_updates": int,
    "validate_every": int,
}
"""The settings that may differ from the scale's."""


def problems(
    kind: str, scale: str, protocol: str, data: str
) -> Iterator[tuple[str, BellSequence, int]]:
    """Yield a problem of ``kind`` for each domain: the domain, its sequence and its position."""
    wanted = set(DOMAINS)
    for realisation in range(100):
        for name in BELL.sequences:
            seed = BELL.realisation_seed(name, realisation)
            sequence = BELL.sequence(name, seed=seed, scale=scale, protocol=protocol, data=data)
            for position, place in enumerate(sequence.places):
                pairs = place.labelling is not None and place.space == "image"
                if place.kind == kind and place.domain in wanted and pairs:
                    wanted.remove(place.domain)
                    yield place.domain, sequence, position
        if not wanted:
            return


def standalone(
    sequence: BellSequence, position: int, settings: TrainingSettings
) -> tuple[float, int, float]:
    """Return the test accuracy in per cent, the updates and the seconds of a network trained from
    scratch."""
    problem, test = sequence.problem(position), sequence.test(position)
    device = torch.device("cpu")
    trained = train(problem, {}, settings, seed=position, init_seed=position, device=device)
    chances = scores(problem.architecture, trained.weights, test.inputs, device=device)
    right = chances.argmax(1).numpy() == test.labels
    return 100 * float(right.mean()), trained.updates, trained.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", default=",".join(PUBLISHED))
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--data", default="glyphs", choices=BELL.sources)
    parser.add_argument("--scale", default="paper", choices=BELL.scales)
    parser.add_argument("--protocol", default="paper", choices=BELL.protocols)
    for name, kind in CHANGEABLE.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=kind, help="in place of the scale's, to save time")
    options = parser.parse_args()
    changes = {name: value for name in CHANGEABLE if (value := getattr(options, name)) is not None}
    torch.set_num_threads(1)
    cpu_determinism.hold()
    print("| domain | kind | problem | test accuracy | published | updates | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind in options.kinds.split(","):
        for domain, sequence, position in problems(
            kind, options.scale, options.protocol, options.data
        ):
            if domain not in options.domains.split(","):
                continue
            settings = replace(sequence.settings, **changes)
            accuracy, updates, seconds = standalone(sequence, position, settings)
            place = sequence.places[position]
            where = f"{sequence.name} {sequence.seed}, {position + 1}: {place.labelling.name}"
            figures = f"{accuracy:.1f} | {PUBLISHED[kind]:.1f} | {updates} | {seconds:.0f}"
            print(f"| {domain} | {kind} | {where} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
