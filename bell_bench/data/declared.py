"""The domains that suites declare: which collection each is of, and how it is cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bell_bench.data.catalogue import Collection
from bell_bench.data.cut import DomainCut
from bell_bench.data.domain import UNLIMITED, DomainSizes, SourceDomain
from bell_bench.errors import BellBenchError, UsageError, unknown


@dataclass(frozen=True)
class OfficialDomain:
    """A domain that a suite cuts from a published collection."""

    name: str
    collection: Collection
    cut: DomainCut
    classes: tuple[int, ...] | None = None
    """The classes used, by the labels that the collection has for them; None for all."""
    sizes: DomainSizes = UNLIMITED
    """How many images there are, where a problem may ask for more."""

    @property
    def told(self) -> SourceDomain:
        """The domain as a source tells of it."""
        return SourceDomain(self.name, self.cut.shape, self.cut.classes, self.sizes)


def official_domains() -> dict[str, OfficialDomain]:
    """Return the official domains of all suites by name. Where two suites have one of the same
    name, it is our suite's, or the first one's."""
    found: dict[str, OfficialDomain] = {}
    for suite in _suites():
        for name, domain in getattr(suite, "official", {}).items():
            found.setdefault(name, domain)
    return found


def cut_of_imports() -> DomainCut:
    """Return how images are cut that have a name of their own: as the first suite says that takes
    such."""
    for suite in _suites():
        cut: DomainCut | None = getattr(suite, "cut_of_imports", None)
        if cut is not None:
            return cut
    raise UsageError("no suite here has domains of one's own: `bell-bench list suites`")


def chosen_collections(names: Iterable[str]) -> list[Collection]:
    """Return the collections of these domains, each once."""
    known = official_domains()
    found = {}
    for name in names:
        if name not in known:
            raise unknown("official domain", name, known)
        found[known[name].collection.name] = known[name].collection
    return list(found.values())


def _suites() -> Iterator[Any]:
    """Yield the suites that load, ours first."""
    from bell_bench.plugins import registry

    for provided in sorted(registry().suites, key=lambda each: not each.ours):
        try:
            yield registry().suite(provided.qualified)
        except BellBenchError:
            continue  # `list` and `doctor` tell what is wrong with it
