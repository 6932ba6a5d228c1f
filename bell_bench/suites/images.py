"""What suites of problems on images have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from bell_bench.data import Domain, DomainSizes, load_domain, missing, sources
from bell_bench.data.cut import DomainCut
from bell_bench.data.declared import OfficialDomain
from bell_bench.data.domain import UNLIMITED, SourceDomain
from bell_bench.data.sources import available
from bell_bench.errors import UsageError, unknown
from bell_bench.modular.architecture import Architecture
from bell_bench.problem import Problem, Split
from bell_bench.suites.base import SequenceInfo, check_seed


class Place(Protocol):
    """One problem of a realised sequence, before any image is drawn."""

    @property
    def name(self) -> str: ...

    @property
    def domain(self) -> str: ...

    @property
    def answers(self) -> int:
        """How many classes its inputs are told apart by."""
        ...


PlaceT = TypeVar("PlaceT", bound=Place)
ScaleT = TypeVar("ScaleT")
ProtocolT = TypeVar("ProtocolT")


@dataclass(frozen=True)
class ImageSequence(Generic[PlaceT, ScaleT, ProtocolT]):
    """One realisation of a sequence of problems on images. Any problem is made without those before
    it."""

    official: ClassVar[Mapping[str, OfficialDomain]] = MappingProxyType({})
    """The suite's own domains, in the order of their places."""

    name: str
    seed: int
    scale: ScaleT
    protocol: ProtocolT
    data: str

    @cached_property
    def places(self) -> list[PlaceT]:
        return self.realise()

    def realise(self) -> list[PlaceT]:
        """Return the places of the sequence, on domains that are available."""
        raise NotImplementedError

    def architecture(self, place: PlaceT) -> Architecture:
        """Return the network for a problem."""
        raise NotImplementedError

    def draw(self, index: int, part: str) -> Split:
        """Return the ``train``, ``validation`` or ``test`` set of a problem."""
        raise NotImplementedError

    def in_common(self, place: PlaceT, earlier: PlaceT) -> str:
        """Return what two problems have in common, in words; "" if nothing."""
        raise NotImplementedError

    def row(self, position: int) -> dict[str, Any]:
        """Return what ``describe`` tells of a problem."""
        raise NotImplementedError

    @property
    def domain_sizes(self) -> DomainSizes:
        """How many images of a domain are used at most."""
        return UNLIMITED

    @property
    def available(self) -> dict[str, SourceDomain]:
        """The domains that the source has for the suite."""
        return available(self.official, self.data)

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.domain for place in self.places))

    def __len__(self) -> int:
        return len(self.places)

    def missing(self) -> Mapping[str, str]:
        return missing(self.domains, self.data, self.official)

    def domain(self, place: PlaceT) -> Domain:
        """Return a problem's domain, which is loaded and checked once; its images stay on disk."""
        name = place.domain
        if name not in self._loaded:
            self._loaded[name] = load_domain(name, self.data, self.domain_sizes, self.official)
        return self._loaded[name]

    @cached_property
    def _loaded(self) -> dict[str, Domain]:
        return {}

    def problem(self, index: int) -> Problem:
        place = self.places[index]
        return Problem(
            index=index,
            name=place.name,
            train=self.draw(index, "train"),
            validation=self.draw(index, "validation"),
            classes=place.answers,
            architecture=self.architecture(place),
        )

    def test(self, index: int) -> Split:
        return self.draw(index, "test")

    def describe(self) -> list[dict[str, Any]]:
        return [self.row(position) for position in range(len(self))]

    def shares(self, position: int) -> list[str]:
        """Return what a problem has in common with earlier ones, for people."""
        place = self.places[position]
        common = [self.in_common(place, earlier) for earlier in self.places[:position]]
        return [f"{what} of {number}" for number, what in enumerate(common, start=1) if what]


class ImageSuite(Generic[ScaleT, ProtocolT]):
    """The base of a suite of problems on images."""

    name: str
    version = "1"
    sequences: Mapping[str, SequenceInfo]
    scales: Mapping[str, ScaleT]
    protocols: Mapping[str, ProtocolT]
    official: Mapping[str, OfficialDomain]
    """The suite's own domains, by name."""
    cut_of_imports: DomainCut | None = None
    """How images are cut that somebody imports under a name of their own; None if the suite does
    not say."""
    first_own_seed = 0
    """Of realisation 0, where no seeds were published."""

    @property
    def sources(self) -> Mapping[str, str]:
        """Every source that has images of the suite's shape."""
        return sources(self.official)

    def published_seeds(self, sequence: str) -> tuple[int, ...]:
        """Return the seeds of a sequence's first realisations, where some were published."""
        return ()

    def realisation_seed(self, sequence: str, realisation: int) -> int:
        """Return a published seed or, beyond those, the realisation's number from the suite's first
        own seed on."""
        if sequence not in self.sequences:
            raise unknown("sequence", sequence, self.sequences)
        if realisation < 0:
            raise UsageError(f"realisations count from 0; {realisation} was asked for")
        seeds = self.published_seeds(sequence)
        return seeds[realisation] if realisation < len(seeds) else self.first_own_seed + realisation

    def check(self, name: str, *, seed: int, scale: str, protocol: str, data: str) -> None:
        """Raise UsageError for a name that the suite does not have, or an impossible seed."""
        for kind, asked, known in (
            ("sequence", name, self.sequences),
            ("scale", scale, self.scales),
            ("protocol", protocol, self.protocols),
            ("data source", data, self.sources),
        ):
            if asked not in known:
                raise unknown(kind, asked, known)
        check_seed(seed)
