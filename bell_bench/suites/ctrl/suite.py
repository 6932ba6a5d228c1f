"""CTrL as two suites: streams whose tasks are made one at a time, when asked."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bell_bench.data.imported import imported_classes
from bell_bench.data.sources import IMAGES
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.settings import TrainingSettings
from bell_bench.problem import Split
from bell_bench.suites.base import ProblemSize, SequenceInfo
from bell_bench.suites.ctrl.architecture import convolutional, resnet
from bell_bench.suites.ctrl.domains import DOMAINS
from bell_bench.suites.ctrl.draw import draw_split
from bell_bench.suites.ctrl.protocol import PROTOCOLS, CtrlProtocol
from bell_bench.suites.ctrl.scales import RESNET_SCALES, SCALES, CtrlScale
from bell_bench.suites.ctrl.streams import SIZES, STREAMS, StreamPlace, realise
from bell_bench.suites.images import ImageSequence, ImageSuite


@dataclass(frozen=True)
class CtrlSequence(ImageSequence[StreamPlace, CtrlScale, CtrlProtocol]):
    """One realisation of a stream."""

    official = DOMAINS
    network: Callable[[int, int], Architecture]
    """From width and number of classes."""

    def realise(self) -> list[StreamPlace]:
        """Return the tasks in their order."""
        return realise(self.name, self.seed, self.available)

    @property
    def settings(self) -> TrainingSettings:
        return self.scale.training

    def missing(self) -> Mapping[str, str]:
        """Return the datasets that cannot serve, and why: their images are not here, or not of all
        classes."""
        found = dict(super().missing())
        for name in self.domains if self.data == IMAGES else ():
            here, needed = imported_classes(name), self.available[name].classes
            if name not in found and here is not None and here < needed:
                found[name] = (
                    f"the imported images have {here} classes, and streams draw from {needed}: "
                    f"`bell-bench data import {name} FILE.npz` with all"
                )
        return found

    def problem_size(self, index: int) -> ProblemSize:
        place = self.places[index]
        classes, counts = len(place.classes), self.per_class(place)
        inputs = (classes * counts["train"], classes * counts["validation"])
        return ProblemSize(self.architecture(place), *inputs)

    def per_class(self, place: StreamPlace) -> dict[str, int]:
        """Images per class of a task's training, validation and test sets, as asked for."""
        asked: tuple[int, int] = getattr(self.scale, place.size)
        counts = {"train": asked[0], "validation": asked[1], "test": self.scale.test}
        domain = self.available[place.domain]
        return {split: domain.per_class(split, count) for split, count in counts.items()}

    def architecture(self, place: StreamPlace) -> Architecture:
        """Return the network for a task."""
        return self.network(self.scale.width, len(place.classes))

    def draw(self, index: int, part: str) -> Split:
        """Return a data set of a task."""
        place = self.places[index]
        per_class = self.per_class(place)[part]
        return draw_split(place, self.domain(place), part, per_class, self.seed)

    def row(self, position: int) -> dict[str, Any]:
        """Return what ``describe`` tells of a task."""
        place, classes = self.places[position], len(self.places[position].classes)
        known = self.available[place.domain].sizes.test is not None
        sizes = {part: classes * count for part, count in self.per_class(place).items()}
        return {
            "position": position,
            "name": place.name,
            "domain": place.domain,
            "colour": place.colour,
            "kind": place.size,
            "symbol": SIZES[place.size],
            "points": sizes["train"],
            "validation": sizes["validation"],
            "test": sizes["test"] if known else f"≤ {sizes['test']}",
            "classes": classes,
            "order": list(place.classes),
            "modules": len(self.architecture(place)),
            "shares": self.shares(position),
        }

    def in_common(self, place: StreamPlace, earlier: StreamPlace) -> str:
        """Return what two tasks have in common, in words."""
        if earlier.domain != place.domain:
            return ""
        what = "dataset" if earlier.colour == place.colour else "digits"
        return f"{what} and labels" if earlier.classes == place.classes else what

    def picture(self, file: pathlib.Path) -> None:
        """Sample images of every label, task by task."""
        from bell_bench.suites.ctrl.picture import draw_stream

        draw_stream(self, file)


class Ctrl(ImageSuite[CtrlScale, CtrlProtocol]):
    """CTrL's streams in one set-up: its networks and how they are trained."""

    sequences: Mapping[str, SequenceInfo] = MappingProxyType(
        {name: stream.info for name, stream in STREAMS.items()}
    )
    protocols: Mapping[str, CtrlProtocol] = PROTOCOLS
    official = DOMAINS

    def __init__(
        self,
        name: str,
        network: Callable[[int, int], Architecture],
        scales: Mapping[str, CtrlScale],
    ) -> None:
        self.name = name
        self.network = network
        self.scales = scales

    def sequence(
        self, name: str, *, seed: int, scale: str, protocol: str, data: str
    ) -> CtrlSequence:
        """Return a realisation of a stream."""
        self.check(name, seed=seed, scale=scale, protocol=protocol, data=data)
        return CtrlSequence(
            name, seed, self.scales[scale], self.protocols[protocol], data, self.network
        )


CTRL = Ctrl("ctrl", convolutional, SCALES)
CTRL_RESNET = Ctrl("ctrl-resnet", resnet, RESNET_SCALES)
