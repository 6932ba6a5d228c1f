"""What there is on disk of each domain, told without reading any image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bell_bench.data.catalogue import Collection
from bell_bench.data.declared import OfficialDomain, cut_of_imports, official_domains
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
    """Return a row for each domain of a source. Of files, one's own come after the official ones
    that are cut in the same way, and before all others."""
    if source != IMAGES:
        return _source_statuses(source)
    declared = official_domains()
    own = cut_of_imports()
    others = [name for name, domain in declared.items() if domain.cut != own]
    names = dict.fromkeys([*declared, *imported_names(), *plugin_domains()])
    ordered = sorted(names, key=lambda name: name in others)
    return [_file_status(name, declared.get(name)) for name in ordered]


def missing(
    names: Sequence[str], source: str, declared: Mapping[str, OfficialDomain] | None = None
) -> dict[str, str]:
    """Return the domains whose images are not here: why, and the command that gets them. Cheap.

    ``declared`` are a suite's official domains, by default those of all suites.
    """
    declared = official_domains() if declared is None else declared
    files = source == IMAGES
    known = [*declared, *imported_names(), *plugin_domains()] if files else source_domains(source)
    for name in names:
        if name not in known:
            raise unknown("domain", name, known)
    asked = dict.fromkeys(names if files else ())
    rows = [_file_status(name, declared.get(name)) for name in asked]
    return {row.name: row.detail for row in rows if row.status != "present"}


def plugin_domains() -> dict[str, Provided[DomainSpec]]:
    """The domains that plugins add; as ``distribution:name`` where two share a name."""
    from bell_bench.plugins import registry

    provided = registry().domains
    names = [each.spec.name for each in provided]
    return {
        each.spec.name if names.count(each.spec.name) == 1 else each.qualified: each
        for each in provided
    }


def _source_statuses(source: str) -> list[Status]:
    domains = source_domains(source)
    provided = plugin_sources()[source]
    detail = f"drawn by {provided.distribution} when first used"
    licence = provided.spec.licence
    return [Status(name, "present", source, licence, 0, detail) for name in domains]


def _file_status(name: str, declared: OfficialDomain | None) -> Status:
    """What is imported under an official name goes before the official files."""
    if imported_path(name).is_file():
        return _imported_status(name, ", used instead of the official images" if declared else "")
    if declared:
        return _official_status(name, declared.collection)
    provided = plugin_domains()[name]
    spec = provided.spec
    source = f"{spec.source} ({provided.provider})" if spec.source else provided.provider
    return Status(name, "present", source, spec.licence, 0, spec.summary)


def _imported_status(name: str, remark: str) -> Status:
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
