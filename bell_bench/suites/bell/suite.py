"""BELL as a suite: sequences whose problems are made one at a time, when asked."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from bell_bench.data import BELL_DOMAINS, Domain, DomainSizes, load_domain, missing, sources
from bell_bench.data.sources import SourceDomain, available
from bell_bench.errors import UsageError, unknown
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem, Split
from bell_bench.suites.base import ProblemSize, SequenceInfo, check_seed
from bell_bench.suites.bell.architecture import PIXELS, architecture
from bell_bench.suites.bell.draw import Ints, Triple, coordinates, draw_split, random_state
from bell_bench.suites.bell.labellings import SIDE
from bell_bench.suites.bell.patterns import KINDS, PATTERNS, PatternPlace, realise
from bell_bench.suites.bell.protocol import PROTOCOLS, BellProtocol
from bell_bench.suites.bell.scales import SCALES, BellScale

OWN = [SourceDomain(name, (PIXELS, PIXELS), SIDE, DomainSizes()) for name in BELL_DOMAINS]
FEW_POINTS, FEW_IMAGES, FEW_COORDINATES = 10, 20, 10


@dataclass(frozen=True)
class BellSequence:
    """One realisation of a BELL sequence. Any problem is made without those before it."""

    name: str
    seed: int
    scale: BellScale
    protocol: BellProtocol
    data: str

    @cached_property
    def places(self) -> list[PatternPlace]:
        return realise(self.name, self.seed, self.protocol, tuple(available(OWN, self.data)))

    def __len__(self) -> int:
        return len(self.places)

    @property
    def settings(self) -> TrainingSettings:
        return self.scale.settings(self.protocol)

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.domain for place in self.places))

    def triples(self, place: PatternPlace) -> dict[str, Triple]:
        """The sizes of a problem's training, validation and test sets."""
        scale, protocol = self.scale, self.protocol
        if protocol.few_restricted:
            few = Triple(FEW_POINTS, FEW_IMAGES, FEW_COORDINATES)
        else:
            few = Triple(FEW_POINTS)
        train = {
            "plus": Triple(scale.plus_points),
            "minus": Triple(scale.minus_points, images=protocol.minus_images),
            "latent": Triple(
                scale.minus_points, coordinates=protocol.latent_coordinates, first=True
            ),
            "few": few,
        }[place.kind]
        validation = Triple(scale.validation_points)
        if place.kind == "few" and protocol.few_restricted:
            validation = few
        return {"train": train, "validation": validation, "test": Triple(scale.test_points)}

    def architecture(self, place: PatternPlace) -> Architecture:
        return architecture(
            place.space,
            pairs=place.labelling is not None,
            width=self.scale.width,
            vector_layers=self.protocol.vector_layers,
        )

    @property
    def sizes(self) -> list[ProblemSize]:
        return [self._size(place) for place in self.places]

    def _size(self, place: PatternPlace) -> ProblemSize:
        triples, there = self.triples(place), self.scale.domain
        inputs = {part: triples[part].points for part in ("train", "validation")}
        images = {
            part: min(filter(None, (
                points * (2 if place.labelling else 1), triples[part].images, getattr(there, part)
            )))
            for part, points in inputs.items()
        }  # fmt: skip
        architecture = self.architecture(place)
        return ProblemSize(architecture, *inputs.values(), *images.values())

    def missing(self) -> Mapping[str, str]:
        return missing(self.domains, self.data)

    def _domain(self, place: PatternPlace) -> Domain:
        """Loaded and checked once; its images stay on disk."""
        if place.domain not in self._loaded:
            self._loaded[place.domain] = load_domain(place.domain, self.data, self.scale.domain)
        return self._loaded[place.domain]

    @cached_property
    def _loaded(self) -> dict[str, Domain]:
        return {}

    def _stream(self, position: int, part: str) -> np.random.RandomState:
        place = self.places[position]
        return random_state("bell", self.seed, position, place.name, place.kind, part)

    def shown(self, position: int) -> Ints:
        """The coordinates (row-major, 0..63) that a problem's training pairs lie at."""
        triple = self.triples(self.places[position])["train"]
        return np.unique(coordinates(triple, self._stream(position, "train")))

    def _draw(self, position: int, domain: Domain, part: str) -> Split:
        place = self.places[position]
        return draw_split(
            getattr(domain, f"{part}_images"),
            getattr(domain, f"{part}_labels"),
            place.labelling,
            self.triples(place)[part],
            self._stream(position, part),
            mean=domain.mean,
            std=domain.std,
            flatten=place.space == "vector",
        )

    def problem(self, index: int) -> Problem:
        place = self.places[index]
        domain = self._domain(place)
        return Problem(
            index=index,
            name=place.name,
            train=self._draw(index, domain, "train"),
            validation=self._draw(index, domain, "validation"),
            classes=2 if place.labelling else SIDE,
            architecture=self.architecture(place),
        )

    def test(self, index: int) -> Split:
        return self._draw(index, self._domain(self.places[index]), "test")

    def describe(self) -> list[dict[str, Any]]:
        return [self._row(position) for position in range(len(self))]

    def _row(self, position: int) -> dict[str, Any]:
        place = self.places[position]
        triples = self.triples(place)
        train, pairs = triples["train"], place.labelling is not None
        return {
            "position": position,
            "name": place.name,
            "domain": place.domain,
            "pattern": place.labelling.pattern if place.labelling else None,
            "map": place.labelling.map if place.labelling else None,
            "digits": place.labelling.digits if place.labelling else None,
            "kind": place.kind,
            "symbol": KINDS[place.kind],
            "points": train.points,
            "images": "all" if train.images is None else train.images,
            "coordinates": (train.coordinates or "all") if pairs else None,
            "validation": triples["validation"].points,
            "test": triples["test"].points,
            "space": place.space,
            "classes": 2 if pairs else SIDE,
            "modules": len(self.architecture(place)),
            "shares": self._shares(position),
        }

    def _shares(self, position: int) -> list[str]:
        """What this problem has in common with earlier ones, for people."""
        place, shared = self.places[position], []
        for number, earlier in enumerate(self.places[:position], start=1):
            what = []
            if earlier.domain == place.domain:
                what.append("domain")
            if place.labelling is not None and earlier.labelling == place.labelling:
                what.append("labelling")
            if what:
                shared.append(f"{' and '.join(what)} of {number}")
        return shared

    def picture(self, file: pathlib.Path) -> None:
        """Sample inputs with labels per problem, and the pattern grids."""
        from bell_bench.suites.bell.sequence_picture import draw_sequence

        draw_sequence(self, file)


class Bell:
    """The suite ``bell``."""

    name = "bell"
    version = "1"
    sequences: Mapping[str, SequenceInfo] = MappingProxyType(
        {name: pattern.info for name, pattern in PATTERNS.items()}
    )
    scales: Mapping[str, BellScale] = SCALES
    protocols: Mapping[str, BellProtocol] = PROTOCOLS

    @property
    def sources(self) -> Mapping[str, str]:
        """Every source that has images of the suite's shape."""
        return sources((PIXELS, PIXELS))

    def realisation_seed(self, sequence: str, realisation: int) -> int:
        """The published seeds first; realisation K beyond them has seed 1000 + K."""
        if sequence not in PATTERNS:
            raise unknown("sequence", sequence, PATTERNS)
        if realisation < 0:
            raise UsageError(f"realisations count from 0; {realisation} was asked for")
        seeds = PATTERNS[sequence].seeds
        return seeds[realisation] if realisation < len(seeds) else 1000 + realisation

    def sequence(
        self, name: str, *, seed: int, scale: str, protocol: str, data: str
    ) -> BellSequence:
        for kind, asked, known in (
            ("sequence", name, PATTERNS),
            ("scale", scale, SCALES),
            ("protocol", protocol, PROTOCOLS),
            ("data source", data, self.sources),
        ):
            if asked not in known:
                raise unknown(kind, asked, known)
        check_seed(seed)
        return BellSequence(name, seed, SCALES[scale], PROTOCOLS[protocol], data)


BELL = Bell()
