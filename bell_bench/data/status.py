"""What there is on disk of each domain, told without reading any image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bell_bench.data.catalogue import COLOUR, OFFICIAL, Collection
from bell_bench.data.domain import BELL_DOMAINS
from bell_bench.data.imported import imported_names, imported_path
from bell_bench.data.official import on_disk
from bell_bench.data.sources import IMAGES, plugin_sources, source_domains
from bell_bench.errors import unknown
from bell_bench.folders import data_folder

if TYPE_CHECKING:
    from bell_bench.plugins import Provided
    from bell_bench.specs import DomainSpec


@dataclass(frozen=True)
class Status:
    """One row of ``data list``."""

    name: str
    status: str
    """present, partial or missing."""
    source: str
    licence: str
    bytes: int
    """On disk; domains of one collection share its files."""
    detail: str
    """Where the images come from or, when they are not here, how to get them."""


def statuses(source: str) -> list[Status]:
    """Every domain of a source: the nine of BELL first, the colour datasets of CTrL last."""
    if source != IMAGES:
        return _source_statuses(source)
    return [*_grey_statuses(), *(colour_status(name) for name in COLOUR)]


def missing(names: Iterable[str], source: str) -> dict[str, str]:
    """The grey domains whose images are not here: why, and the command that gets them. Cheap."""
    rows = _grey_statuses() if source == IMAGES else _source_statuses(source)
    known = {status.name: status for status in rows}
    lacking = {}
    for name in dict.fromkeys(names):
        if name not in known:
            raise unknown("domain", name, known)
        if known[name].status != "present":
            lacking[name] = known[name].detail
    return lacking


def colour_status(name: str) -> Status:
    """The row of a colour dataset."""
    return _file_status(name, COLOUR[name])


def plugin_domains() -> dict[str, Provided[DomainSpec]]:
    """The domains that plugins add; as ``distribution:name`` where two share a name."""
    from bell_bench.plugins import registry

    provided = registry().domains
    names = [each.spec.name for each in provided]
    return {
        each.spec.name if names.count(each.spec.name) == 1 else each.qualified: each
        for each in provided
    }


def _grey_statuses() -> list[Status]:
    names = dict.fromkeys([*BELL_DOMAINS, *imported_names(), *plugin_domains()])
    return [_grey_image_status(name) for name in names if name not in COLOUR]


def _source_statuses(source: str) -> list[Status]:
    domains = source_domains(source)
    provided = plugin_sources()[source]
    detail = f"drawn by {provided.distribution} when first used"
    licence = provided.spec.licence
    return [Status(name, "present", source, licence, 0, detail) for name in domains]


def _grey_image_status(name: str) -> Status:
    if name in OFFICIAL:
        return _file_status(name, OFFICIAL[name].collection)
    if imported_path(name).is_file():
        return _imported_status(name)
    provided = plugin_domains()[name]
    spec = provided.spec
    source = f"{spec.source} ({provided.provider})" if spec.source else provided.provider
    return Status(name, "present", source, spec.licence, 0, spec.summary)


def _file_status(name: str, collection: Collection) -> Status:
    """What is imported under an official name goes before the official files."""
    if imported_path(name).is_file():
        return _imported_status(name, ", used instead of the official images")
    return _official_status(name, collection)


def _imported_status(name: str, remark: str = "") -> Status:
    path = imported_path(name)
    return Status(name, "present", "imported", "your own", path.stat().st_size, f"{path}{remark}")


def _official_status(name: str, collection: Collection) -> Status:
    found = [on_disk(file) for file in collection.files]
    parts = [data_folder() / f"{file.path}.part" for file in collection.files]
    begun = [part for part in parts if part.is_file()]
    size = sum(path.stat().st_size for paths in [*found, begun] for path in paths)
    if all(found):
        status, detail = "present", collection.homepage
    else:
        status = "partial" if any(found) or begun else "missing"
        lacking = [f.path for f, paths in zip(collection.files, found, strict=True) if not paths]
        what = ", ".join(lacking) if status == "partial" else f"the files of {collection.title}"
        detail = (
            f"{data_folder()} lacks {what}; get them (about {collection.megabytes} MB) "
            f"with `bell-bench data download {name}`"
        )
    return Status(name, status, collection.title, collection.licence, size, detail)
