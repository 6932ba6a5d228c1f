"""The sequences as patterns, and their realisations: which problem stands where."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bell_bench.errors import UsageError
from bell_bench.suites.base import SequenceInfo
from bell_bench.suites.bell.domains import CLASSES, DOMAINS
from bell_bench.suites.bell.labellings import Labelling, labellings
from bell_bench.suites.bell.protocol import BellProtocol

KINDS = {"plus": "Ψ+", "minus": "Ψ−", "latent": "latent Ψ−", "few": "Ψ−−"}


@dataclass(frozen=True)
class PatternPlace:
    """One problem of a realised sequence, before any image is drawn."""

    domain: str
    labelling: Labelling | None
    """None: plain 8-way classification of single images (S_few's first two problems)."""
    kind: str
    space: str = "image"

    @property
    def name(self) -> str:
        return f"{self.domain}/{self.labelling.name if self.labelling else 'classes'}"

    @property
    def answers(self) -> int:
        """How many classes its inputs are told apart by."""
        return 2 if self.labelling else CLASSES


Fill = Callable[[random.Random, BellProtocol, Sequence[str]], list[PatternPlace]]
"""It draws the places of a sequence from the names of the domains that there are."""


@dataclass(frozen=True)
class Pattern:
    """A sequence: how many domains and labellings are drawn, and how they fill the places."""

    info: SequenceInfo
    seeds: tuple[int, ...]
    """The published realisations (or our own, where none were published)."""
    fill: Fill


def _sample(rng: random.Random, domains: Sequence[str], count: int) -> list[str]:
    if len(domains) < count:
        raise UsageError(
            f"{count} domains are needed, and the data source has {len(domains)}: "
            f"{', '.join(domains) or 'none'}"
        )
    return rng.sample(domains, count)


def _sampled(drawn: int, uppers: int, places: str, kinds: str) -> Fill:
    """A fixed pattern: ``places`` like "11 22 1." (domain, labelling; "." for none), and kinds
    "+" plus, "-" minus, "l" latent, "b" what the protocol puts before latent ones, "f" few;
    a place that ends in "v" is flattened to a vector."""
    names = {"+": "plus", "-": "minus", "l": "latent", "f": "few"}

    def fill(
        rng: random.Random, protocol: BellProtocol, domains: Sequence[str]
    ) -> list[PatternPlace]:
        d = _sample(rng, domains, drawn)
        g = rng.sample(labellings(protocol.own_maps), uppers)
        kind = {**names, "b": protocol.latent_before}
        return [
            PatternPlace(
                domain=d[int(place[0]) - 1],
                labelling=None if place[1] == "." else g[int(place[1]) - 1],
                kind=kind[symbol],
                space="vector" if place.endswith("v") else "image",
            )
            for place, symbol in zip(places.split(), kinds.split(), strict=True)
        ]

    return fill


def _long(rng: random.Random, protocol: BellProtocol, domains: Sequence[str]) -> list[PatternPlace]:
    """Problems drawn with replacement, sizes at random, large ones among the first 50 only."""
    uppers = labellings(protocol.own_maps)
    places = []
    for position in range(protocol.long_length):
        domain, upper, draw = rng.choice(domains), rng.choice(uppers), rng.random()
        small = rng.choice(("minus", "latent"))
        if draw < 1 / 10:
            kind = "few"
        elif position < 50 and draw < 1 / 10 + 1 / 3:
            kind = "plus"
        else:
            kind = small
        places.append(PatternPlace(domain, upper, kind))
    return places


def _in_plus(
    rng: random.Random, protocol: BellProtocol, domains: Sequence[str]
) -> list[PatternPlace]:
    """15 large problems on five domains in turn, each with its own labelling, then (d6, g1)."""
    d = _sample(rng, domains, 6)
    g = rng.sample(labellings(protocol.own_maps), 16)
    return [
        *(PatternPlace(d[i % 5], g[i], "plus") for i in range(15)),
        PatternPlace(d[5], g[0], "latent"),
    ]


def _short(
    name: str,
    tests: str,
    summary: str,
    seeds: tuple[int, ...],
    domains: int,
    uppers: int,
    places: str,
    kinds: str,
) -> Pattern:
    info = SequenceInfo(name, tests, summary, length=6)
    return Pattern(info, seeds, _sampled(domains, uppers, places, kinds))


_PATTERNS = (
    _short("S_pl", "plasticity, stability", "six distinct problems with plenty of data",
           (30, 31, 32), 6, 6, "11 22 33 44 55 66", "+ + + + + +"),
    _short("S_minus", "perceptual transfer", "the first problem returns with little data",
           (25, 26, 27), 5, 5, "11 22 33 44 55 11", "+ - - - - -"),
    _short("S_plus", "backward transfer", "the first problem returns with much data",
           (35, 36, 37), 5, 5, "11 22 33 44 55 11", "- - - - - +"),
    _short("S_out", "perceptual transfer", "the first domain returns with a new labelling",
           (40, 41, 42), 5, 6, "11 22 33 44 55 16", "+ - - - - -"),
    _short("S_out_star", "perceptual transfer",
           "the first domain was seen twice, once with little and once with much data",
           (45, 46, 47), 4, 6, "11 12 23 34 45 16", "- + - - - -"),
    _short("S_out_star_star", "perceptual transfer",
           "the first problem returns; its domain was learnt better in the second",
           (20, 21, 22), 4, 5, "11 12 23 34 45 11", "- + - - - -"),
    _short("S_in", "latent transfer", "the first labelling returns on a new domain",
           (55, 56, 54), 6, 5, "11 22 33 44 55 61", "+ b b b b l"),
    _short("S_few", "few-shot transfer", "a known domain and a known labelling, ten examples",
           (50, 51, 52), 4, 3, "1. 2. 31 12 43 22", "+ + - - - f"),
    _short("S_sp", "latent transfer", "the first labelling returns on a new input space",
           (55, 56, 54), 6, 5, "11 22 33 44 55 61v", "+ b b b b l"),
    Pattern(
        SequenceInfo("S_long", "scalability", "many random problems", length=60, short=False),
        (60, 61, 62), _long,
    ),
    Pattern(
        SequenceInfo("S_in_plus", "latent transfer (ablation of the NT search)",
                     "15 labellings with plenty of data, then the first on a new domain",
                     length=16, short=False),
        (70, 71, 72, 73, 74), _in_plus,
    ),
)  # fmt: skip

PATTERNS = {pattern.info.name: pattern for pattern in _PATTERNS}


def realise(
    name: str, seed: int, protocol: BellProtocol, domains: Sequence[str] = tuple(DOMAINS)
) -> list[PatternPlace]:
    """Return the problems of a sequence for a seed, on some of the domains. On BELL's own, the
    published seeds give the published problems."""
    return PATTERNS[name].fill(random.Random(seed), protocol, domains)
