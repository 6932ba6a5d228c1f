"""BELL as a suite: sequences whose problems are made one at a time, when asked."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from bell_bench.data import DomainSizes
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Split
from bell_bench.suites.base import ProblemSize, SequenceInfo
from bell_bench.suites.bell.architecture import architecture
from bell_bench.suites.bell.domains import CUT, DOMAINS
from bell_bench.suites.bell.draw import Ints, Triple, coordinates, draw_split, random_state
from bell_bench.suites.bell.patterns import KINDS, PATTERNS, PatternPlace, realise
from bell_bench.suites.bell.protocol import PROTOCOLS, BellProtocol
from bell_bench.suites.bell.scales import SCALES, BellScale
from bell_bench.suites.images import ImageSequence, ImageSuite

FEW_POINTS, FEW_IMAGES, FEW_COORDINATES = 10, 20, 10


@dataclass(frozen=True)
class BellSequence(ImageSequence[PatternPlace, BellScale, BellProtocol]):
    """One realisation of a BELL sequence."""

    official = DOMAINS

    def realise(self) -> list[PatternPlace]:
        """Return the problems in their order."""
        return realise(self.name, self.seed, self.protocol, tuple(self.available))

    @property
    def settings(self) -> TrainingSettings:
        return self.scale.settings(self.protocol)

    @property
    def domain_sizes(self) -> DomainSizes:
        """As the scale says."""
        return self.scale.domain

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
        """Return the network for a problem."""
        return architecture(
            place.space,
            pairs=place.labelling is not None,
            width=self.scale.width,
            vector_layers=self.protocol.vector_layers,
        )

    def problem_size(self, index: int) -> ProblemSize:
        place, domain = self.places[index], self.scale.domain
        triples = self.triples(place)
        train, validation = triples["train"], triples["validation"]
        images = (train.images or domain.train, validation.images or domain.validation)
        return ProblemSize(self.architecture(place), train.points, validation.points, *images)

    def _stream(self, position: int, part: str) -> np.random.RandomState:
        place = self.places[position]
        return random_state("bell", self.seed, position, place.name, place.kind, part)

    def shown(self, position: int) -> Ints:
        """The coordinates (row-major, 0..63) that a problem's training pairs lie at."""
        triple = self.triples(self.places[position])["train"]
        return np.unique(coordinates(triple, self._stream(position, "train")))

    def draw(self, index: int, part: str) -> Split:
        """Return a data set of a problem."""
        place = self.places[index]
        domain = self.domain(place)
        return draw_split(
            getattr(domain, f"{part}_images"),
            getattr(domain, f"{part}_labels"),
            place.labelling,
            self.triples(place)[part],
            self._stream(index, part),
            mean=domain.mean,
            std=domain.std,
            flatten=place.space == "vector",
        )

    def row(self, position: int) -> dict[str, Any]:
        """Return what ``describe`` tells of a problem."""
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
            "classes": place.answers,
            "modules": len(self.architecture(place)),
            "shares": self.shares(position),
        }

    def in_common(self, place: PatternPlace, earlier: PatternPlace) -> str:
        """Return what two problems have in common, in words."""
        same = {
            "domain": earlier.domain == place.domain,
            "labelling": place.labelling is not None and earlier.labelling == place.labelling,
        }
        return " and ".join(what for what, equal in same.items() if equal)

    def picture(self, file: pathlib.Path) -> None:
        """Sample inputs with labels per problem, and the pattern grids."""
        from bell_bench.suites.bell.sequence_picture import draw_sequence

        draw_sequence(self, file)


class Bell(ImageSuite[BellScale, BellProtocol]):
    """The suite ``bell``."""

    name = "bell"
    sequences: Mapping[str, SequenceInfo] = MappingProxyType(
        {name: pattern.info for name, pattern in PATTERNS.items()}
    )
    scales: Mapping[str, BellScale] = SCALES
    protocols: Mapping[str, BellProtocol] = PROTOCOLS
    official = DOMAINS
    cut_of_imports = CUT
    first_own_seed = 1000

    def published_seeds(self, sequence: str) -> tuple[int, ...]:
        """Return the seeds of a sequence's first realisations."""
        return PATTERNS[sequence].seeds

    def sequence(
        self, name: str, *, seed: int, scale: str, protocol: str, data: str
    ) -> BellSequence:
        """Return a realisation of a sequence."""
        self.check(name, seed=seed, scale=scale, protocol=protocol, data=data)
        return BellSequence(name, seed, self.scales[scale], self.protocols[protocol], data)


BELL = Bell()
