"""How hard a source's domains are: standalone test accuracy per domain and kind of problem.

    python benchmarks/glyph_difficulty.py                      # all 36 problems: hours
    python benchmarks/glyph_difficulty.py --kinds minus,few --domains mnist_1 --data images

Each problem is the first of its domain and kind among the published realisations, trained from
scratch as the paper says. This is what the embedded glyphs were calibrated on, and all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace

import torch

from bell_bench.data import BELL_DOMAINS
from bell_bench.modular.network import predict
from bell_bench.modular.training import train
from bell_bench.suites.bell.suite import BELL, BellSequence

PUBLISHED = {"plus": 93.6, "minus": 70.0, "latent": 66.0, "few": 50.0}


def problems(kind: str, scale: str, data: str) -> Iterator[tuple[str, BellSequence, int]]:
    """A problem of ``kind`` for each domain: its sequence and position."""
    wanted = set(BELL_DOMAINS)
    for round_ in range(100):
        for name in BELL.sequences:
            seed = BELL.realisation_seed(name, round_)
            sequence = BELL.sequence(name, seed=seed, scale=scale, protocol="paper", data=data)
            for position, place in enumerate(sequence.places):
                pairs = place.labelling is not None and place.space != "vector"
                if place.kind == kind and place.domain in wanted and pairs:
                    wanted.remove(place.domain)
                    yield place.domain, sequence, position
        if not wanted:
            return
