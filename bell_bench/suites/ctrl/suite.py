"""CTrL as two suites: streams whose tasks are made one at a time, when asked."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from bell_bench.data import sources
from bell_bench.data.colour import ColourDomain, classes_here, load, missing
from bell_bench.data.sources import SourceDomain, available
from bell_bench.errors import UsageError, unknown
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Problem, Split
from bell_bench.suites.base import ProblemSize, SequenceInfo, check_seed
from bell_bench.suites.ctrl.architecture import IMAGE, convolutional, resnet
from bell_bench.suites.ctrl.draw import draw_split
from bell_bench.suites.ctrl.protocol import PROTOCOLS, CtrlProtocol
from bell_bench.suites.ctrl.scales import RESNET_SCALES, SCALES, CtrlScale
from bell_bench.suites.ctrl.streams import OWN, SIZES, STREAMS, StreamPlace, realise


@dataclass(frozen=True)
class CtrlSequence:
    """One realisation of a stream. Any task is made without those before it."""

    name: str
    seed: int
    scale: CtrlScale
    protocol: CtrlProtocol
    data: str
    network: Callable[[int, int], Architecture]
    """From width and number of classes."""

    @cached_property
    def places(self) -> list[StreamPlace]:
        return realise(self.name, self.seed, self.available)

    @property
    def available(self) -> dict[str, SourceDomain]:
        """The domains that the source has for the stream."""
        return available(list(OWN.values()), self.data)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def settings(self) -> TrainingSettings:
        return self.scale.training

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.dataset for place in self.places))

    def missing(self) -> Mapping[str, str]:
        found = {name: self._lacks(name) for name in self.domains}
        return {name: why for name, why in found.items() if why is not None}

    def _lacks(self, name: str) -> str | None:
        """Why a dataset cannot serve: its images are not here, or not of all its classes."""
        why = missing(name, self.data)
        needed = self.available[name].classes
        if why is None and (here := classes_here(name, self.data)) < needed:
            return (
                f"the imported images have {here} classes, and streams draw from "
                f"{needed}: `bell-bench data import {name} FILE.npz` with all"
            )
        return why

    @property
    def sizes(self) -> list[ProblemSize]:
        return [self._size(place) for place in self.places]

    def _size(self, place: StreamPlace) -> ProblemSize:
        counts = self.per_class(place)
        train, validation = (len(place.classes) * counts[part] for part in ("train", "validation"))
        return ProblemSize(self.architecture(place), train, validation, train, validation)

    def per_class(self, place: StreamPlace) -> dict[str, int]:
        """Images per class of a task's training, validation and test sets, as asked for."""
        asked: tuple[int, int] = getattr(self.scale, place.size)
        counts = {"train": asked[0], "validation": asked[1], "test": self.scale.test}
        domain = self.available[place.dataset]
        return {split: domain.per_class(split, count) for split, count in counts.items()}

    def architecture(self, place: StreamPlace) -> Architecture:
        return self.network(self.scale.width, len(place.classes))

    def _draw(self, index: int, part: str) -> Split:
        place = self.places[index]
        if place.dataset not in self._loaded:
            self._loaded[place.dataset] = load(place.dataset, self.data)
        domain = self._loaded[place.dataset]
        return draw_split(place, domain, part, self.per_class(place)[part], self.seed)

    @cached_property
    def _loaded(self) -> dict[str, ColourDomain]:
        """Each dataset once; its images stay on disk."""
        return {}

    def problem(self, index: int) -> Problem:
        place = self.places[index]
        return Problem(
            index=index,
            name=place.name,
            train=self._draw(index, "train"),
            validation=self._draw(index, "validation"),
            classes=len(place.classes),
            architecture=self.architecture(place),
        )

    def test(self, index: int) -> Split:
        return self._draw(index, "test")

    def describe(self) -> list[dict[str, Any]]:
        return [self._row(position) for position in range(len(self))]

    def _row(self, position: int) -> dict[str, Any]:
        place, classes = self.places[position], len(self.places[position].classes)
        known = self.available[place.dataset].sizes.test is not None
        sizes = {part: classes * count for part, count in self.per_class(place).items()}
        return {
            "position": position,
            "name": place.name,
            "domain": place.dataset,
            "colour": place.colour,
            "kind": place.size,
            "symbol": SIZES[place.size],
            "points": sizes["train"],
            "validation": sizes["validation"],
            "test": sizes["test"] if known else f"≤ {sizes['test']}",
            "classes": classes,
            "order": list(place.classes),
            "modules": len(self.architecture(place)),
            "shares": self._shares(position),
        }

    def _shares(self, position: int) -> list[str]:
        """What this task has in common with earlier ones, for people."""
        place, shared = self.places[position], []
        for number, earlier in enumerate(self.places[:position], start=1):
            if earlier.dataset == place.dataset:
                what = "dataset" if earlier.colour == place.colour else "digits"
                what += " and labels" if earlier.classes == place.classes else ""
                shared.append(f"{what} of {number}")
        return shared

    def picture(self, file: pathlib.Path) -> None:
        """Sample images of every label, task by task."""
        from bell_bench.suites.ctrl.picture import draw_stream

        draw_stream(self, file)


class Ctrl:
    """CTrL's streams in one set-up: its networks and how they are trained."""

    version = "1"
    sequences: Mapping[str, SequenceInfo] = MappingProxyType(
        {name: stream.info for name, stream in STREAMS.items()}
    )
    protocols: Mapping[str, CtrlProtocol] = PROTOCOLS

    @property
    def sources(self) -> Mapping[str, str]:
        """Every source that has images of the suite's shape."""
        return sources(IMAGE.shape)

    def __init__(
        self,
        name: str,
        network: Callable[[int, int], Architecture],
        scales: Mapping[str, CtrlScale],
    ) -> None:
        self.name = name
        self.network = network
        self.scales = scales

    def realisation_seed(self, sequence: str, realisation: int) -> int:
        """Realisation K has seed K: none were published."""
        if sequence not in STREAMS:
            raise unknown("sequence", sequence, STREAMS)
        if realisation < 0:
            raise UsageError(f"realisations count from 0; {realisation} was asked for")
        return realisation

    def sequence(
        self, name: str, *, seed: int, scale: str, protocol: str, data: str
    ) -> CtrlSequence:
        for kind, asked, known in (
            ("sequence", name, STREAMS),
            ("scale", scale, self.scales),
            ("protocol", protocol, self.protocols),
            ("data source", data, self.sources),
        ):
            if asked not in known:
                raise unknown(kind, asked, known)
        check_seed(seed)
        return CtrlSequence(
            name, seed, self.scales[scale], self.protocols[protocol], data, self.network
        )


CTRL = Ctrl("ctrl", convolutional, SCALES)
CTRL_RESNET = Ctrl("ctrl-resnet", resnet, RESNET_SCALES)
