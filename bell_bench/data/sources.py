"""Where images may come from, ``--data NAME``: files, and the sources that plugins provide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from bell_bench.data.declared import OfficialDomain, official_domains
from bell_bench.data.domain import DomainSizes, SourceDomain
from bell_bench.data.imported import imported_among
from bell_bench.errors import BellBenchError, UsageError, unknown
from bell_bench.files import hash_json
from bell_bench.import_strings import load_object, one_line

if TYPE_CHECKING:
    from bell_bench.plugins import Provided
    from bell_bench.specs import SourceSpec

IMAGES = "images"
"""The source that reads files: official ones, imported ones, and single domains of plugins."""


class ImageSource(Protocol):
    """What a ``SourceSpec`` names."""

    @property
    def domains(self) -> Sequence[SourceDomain]:
        """All domains. Those of a suite's shape take its domains' places, in this order."""
        ...

    def draw(
        self, name: str, split: str, count: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the first ``count`` images of a domain's ``train``, ``validation`` or ``test``
        split, and their labels. Labels count from 0, and a shorter split begins a longer one."""
        ...


def plugin_sources() -> dict[str, Provided[SourceSpec]]:
    """Return the sources of plugins by name, ours first. Another's is called
    ``distribution:name`` where its name is taken."""
    from bell_bench.plugins import registry
    from bell_bench.specs import SourceSpec

    every = sorted(registry().every(SourceSpec), key=lambda each: not each.ours)
    names = [IMAGES, *(each.spec.name for each in every)]
    return {
        each.spec.name if each.ours or names.count(each.spec.name) == 1 else each.qualified: each
        for each in every
    }


def sources(own: Mapping[str, OfficialDomain] | None = None) -> dict[str, str]:
    """Return the sources that have images for a suite with these official domains, each with its
    summary: ours first, then the files, then others. Without a suite, return all sources."""
    domains = (official_domains() if own is None else own).values()
    shapes = {domain.cut.shape for domain in domains}
    titles = dict.fromkeys(domain.collection.title for domain in domains)
    files = ", ".join([*titles, "or images you import"])
    found = {
        name: each
        for name, each in plugin_sources().items()
        if own is None or shapes & set(each.spec.shapes)
    }
    ours = {name: each.spec.summary for name, each in found.items() if each.ours}
    return {**ours, IMAGES: files, **{name: each.spec.summary for name, each in found.items()}}


def source_domains(source: str) -> dict[str, SourceDomain]:
    """Return the domains of a plugin's source by name."""
    provided = _provided(source)
    try:
        domains = tuple(_loaded(provided).domains)
    except BellBenchError:
        raise
    except Exception as error:
        raise BellBenchError(f"{_where(source)} failed: {one_line(error)}") from error
    for domain in domains:
        if not isinstance(domain, SourceDomain) or None in asdict(domain.sizes).values():
            raise BellBenchError(
                f"{_where(source)} has {domain!r}; it must be a SourceDomain that tells all sizes"
            )
    found = {domain.name: domain for domain in domains}
    if len(found) != len(domains):
        raise BellBenchError(f"{_where(source)} has two domains of one name")
    return found


def available(own: Mapping[str, OfficialDomain], source: str) -> dict[str, SourceDomain]:
    """Return the domains that a source has for a suite, in the order of the places they take. Read
    from files, they are the suite's own; a plugin's are those whose images have the same shape."""
    told = {name: domain.told for name, domain in own.items()}
    if source == IMAGES:
        return told
    shapes = {domain.shape for domain in told.values()}
    found = {name: each for name, each in source_domains(source).items() if each.shape in shapes}
    least = min(domain.cut.fewest_classes for domain in own.values())
    most = max(domain.cut.classes for domain in own.values())
    for domain in found.values():
        if not least <= domain.classes <= most:
            needed = f"{most}" if least == most else f"{least} to {most}"
            raise UsageError(
                f"{domain.name} of {_where(source)} has {domain.classes} classes; this suite needs "
                f"{needed}"
            )
    return found


def determined_by(source: str, domain: SourceDomain) -> dict[str, object]:
    """Return all that the images of a plugin's domain depend on but their number. Ours have
    versions for that; another's may change with the plugin."""
    provided = _provided(source)
    of = provided.spec.name if provided.ours else f"{provided.provider}:{provided.spec.name}"
    return {"source": of, "name": domain.name, "version": domain.version}


def foreign_images(domains: Iterable[str], source: str) -> dict[str, str]:
    """Return those of the domains whose images somebody imported or another distribution makes,
    each with a hash of what determines them. Cheap."""
    if source == IMAGES:
        return imported_among(domains)
    if source not in (found := plugin_sources()) or found[source].ours:
        return {}
    known = source_domains(source)
    return {
        name: hash_json(determined_by(source, known[name]))[:16]
        for name in domains
        if name in known
    }


def draw(source: str, domain: SourceDomain, sizes: DomainSizes) -> dict[str, NDArray[Any]]:
    """Return the six arrays of a plugin's domain, or an error that says what is wrong with them.
    Every size is told."""
    made: dict[str, NDArray[Any]] = {}
    for split, count in asdict(sizes).items():
        try:
            images, labels = _loaded(_provided(source)).draw(domain.name, split, count)
            images, labels = np.asarray(images), np.asarray(labels)
        except Exception as error:
            raise BellBenchError(
                f"{_where(source)} failed to draw {domain.name}: {one_line(error)}"
            ) from error
        right = images.shape == (count, *domain.shape) and images.dtype == np.uint8
        numbered = labels.shape == (count,) and np.issubdtype(labels.dtype, np.integer)
        if not right or not numbered or not set(labels.tolist()) <= set(range(domain.classes)):
            raise BellBenchError(
                f"{_where(source)} gave {images.dtype} {images.shape} as {count} {split} images of "
                f"{domain.name}, with {labels.dtype} {labels.shape} labels; uint8 "
                f"{(count, *domain.shape)} and whole numbers below {domain.classes} are needed"
            )
        made[f"{split}_images"], made[f"{split}_labels"] = images, labels.astype(np.int64)
    return made


def _provided(source: str) -> Provided[SourceSpec]:
    found = plugin_sources()
    if source not in found:
        raise unknown("data source", source, [IMAGES, *found])
    return found[source]


def _loaded(provided: Provided[SourceSpec]) -> ImageSource:
    return cast("ImageSource", load_object(provided.spec.load))


def _where(source: str) -> str:
    return f"data source {source!r} of {_provided(source).provider}"
