"""A domain by name and source, at the sizes a scale asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass

from bell_bench.data import official
from bell_bench.data.arrays import PARTS, Arrays
from bell_bench.data.cut import VERSION, DomainCut, check, cut_splits
from bell_bench.data.declared import OfficialDomain, cut_of_imports, official_domains
from bell_bench.data.domain import UNLIMITED, Domain, DomainSizes
from bell_bench.data.imported import imported_path, read_imported
from bell_bench.data.prepared import prepared, stamp
from bell_bench.data.sources import IMAGES, determined_by, draw, source_domains
from bell_bench.data.status import missing, plugin_domains
from bell_bench.errors import BellBenchError, UsageError, unknown
from bell_bench.import_strings import load_object
from bell_bench.problem import hash_arrays


@dataclass(frozen=True)
class _Files:
    """Images from files or from a plugin's function, before they are cut."""

    key: Mapping[str, object]
    """All that determines them."""
    cut: DomainCut
    read: Callable[[], Arrays]


def load_domain(
    name: str,
    source: str,
    sizes: DomainSizes = UNLIMITED,
    declared: Mapping[str, OfficialDomain] | None = None,
) -> Domain:
    """Return the domain's images, memory-mapped; drawn or read once, then cached on disk.

    A domain that holds fewer images than ``sizes`` asks for gives all it has. ``declared`` are a
    suite's official domains, by default those of all suites.
    """
    for split, count in asdict(sizes).items():
        if count is not None and count < 1:
            raise UsageError(f"a domain of {count} {split} images was asked for; 1 is the least")
    if source != IMAGES:
        return _drawn(name, source, sizes)
    declared = official_domains() if declared is None else declared
    if lacking := missing([name], IMAGES, declared):
        raise BellBenchError(f"the images of {name} are not here: {lacking[name]}")
    files = _files(name, declared.get(name))
    key = {**files.key, "version": VERSION, "cut": astuple(files.cut), "sizes": astuple(sizes)}
    return prepared(name, key, lambda: cut_splits(files.read(), files.cut, sizes))


def _drawn(name: str, source: str, sizes: DomainSizes) -> Domain:
    found = source_domains(source)
    if name not in found:
        raise unknown(f"domain of {source}", name, found)
    domain = found[name]
    counts = domain.sizes.at_most(sizes)
    key = {**determined_by(source, domain), "sizes": astuple(counts)}
    return prepared(name, key, lambda: draw(source, domain, counts))


def _files(name: str, declared: OfficialDomain | None) -> _Files:
    """What is imported goes before the official files."""
    path = imported_path(name)
    if path.is_file():
        cut = declared.cut if declared else cut_of_imports()
        return _Files({"files": [stamp(path)]}, cut, lambda: read_imported(name))
    if declared:
        return _official(declared)
    content, cut = _plugin_arrays(name), cut_of_imports()
    key = {"arrays": hash_arrays(content[part] for part in PARTS)}
    return _Files(key, cut, lambda: content)


def _official(domain: OfficialDomain) -> _Files:
    collection, classes = domain.collection, domain.classes
    found = [path for file in collection.files for path in official.on_disk(file)]

    def read() -> Arrays:
        content = official.read(collection)
        return check(content, collection.title, domain.cut, classes, domain.name)

    key = {"classes": classes, "files": [stamp(path) for path in found]}
    return _Files(key, domain.cut, read)


def _plugin_arrays(name: str) -> Arrays:
    """Return what the plugin's function gives; it is asked each time, as it may change."""
    provided = plugin_domains()[name]
    where = f"domain {name!r} of {provided.provider}"
    try:
        content = load_object(provided.spec.load)()
    except Exception as error:
        raise BellBenchError(f"{where} failed: {type(error).__name__}: {error}") from error
    return check(content, where, cut_of_imports())
