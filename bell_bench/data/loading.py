"""A domain by name and source, at the sizes a scale asks for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from numpy.typing import NDArray

from bell_bench.data import arrays, official
from bell_bench.data.catalogue import OFFICIAL
from bell_bench.data.domain import BELL_DOMAINS, SOURCES, Domain, DomainSizes
from bell_bench.data.imported import imported_path, read_imported
from bell_bench.data.prepared import Arrays, prepared, stamp
from bell_bench.data.status import missing, plugin_domains
from bell_bench.errors import BellBenchError, UsageError, unknown
from bell_bench.problem import hash_arrays
from bell_bench_drawn import glyphs

CUT = 1
"""Part of every cache key of real images; changes when the way they are cut does."""


def load_domain(name: str, source: str, sizes: DomainSizes) -> Domain:
    """The domain's images, memory-mapped; drawn or read once, then cached on disk.

    A domain that holds fewer images than ``sizes`` asks for gives all it has.
    """
    for split, count in asdict(sizes).items():
        if count is not None and count < 1:
            raise UsageError(f"a domain of {count} {split} images was asked for; 1 is the least")
    if source == "glyphs":
        return _glyphs(name, sizes)
    if source == "images":
        return _images(name, sizes)
    raise unknown("data source", source, SOURCES)


def _glyphs(name: str, sizes: DomainSizes) -> Domain:
    if name not in BELL_DOMAINS:
        raise unknown("glyph domain", name, BELL_DOMAINS)
    counts = {
        split: min(asdict(sizes)[split] or available, available)
        for split, available in glyphs.ALL.items()
    }

    def make() -> Arrays:
        made: dict[str, NDArray[Any]] = {}
        for split, count in counts.items():
            made[f"{split}_images"], made[f"{split}_labels"] = glyphs.draw(name, split, count)
        return made

    return prepared(name, {"glyphs": glyphs.VERSION, "name": name, **counts}, make)


def _images(name: str, sizes: DomainSizes) -> Domain:
    if lacking := missing([name], "images"):
        raise BellBenchError(f"the images of {name} are not here: {lacking[name]}")
    key: dict[str, object] = {"cut": CUT, "name": name, **asdict(sizes)}
    path = imported_path(name)
    if path.is_file():
        key["files"] = [stamp(path)]
        return prepared(name, key, lambda: arrays.cut(read_imported(name), sizes))
    if name in OFFICIAL:
        files = OFFICIAL[name].collection.files
        found = [path for file in files for path in official.on_disk(file)]
        key["files"] = [stamp(path) for path in found]
        return prepared(name, key, lambda: _cut_official(name, sizes))
    content = _plugin_arrays(name)
    key["arrays"] = hash_arrays(content[part] for part in arrays.PARTS)
    return prepared(name, key, lambda: arrays.cut(content, sizes))


def _cut_official(name: str, sizes: DomainSizes) -> Arrays:
    domain = OFFICIAL[name]
    content = official.read(domain.collection)
    return arrays.cut(arrays.check(content, domain.collection.title, domain.classes), sizes)


def _plugin_arrays(name: str) -> Arrays:
    """What the plugin's function gives; asked each time, as it may change."""
    from bell_bench.import_strings import load_object

    provided = plugin_domains()[name]
    where = f"domain {name!r} of {provided.provider}"
    try:
        content = load_object(provided.spec.load)()
    except Exception as error:
        raise BellBenchError(f"{where} failed: {type(error).__name__}: {error}") from error
    return arrays.check(content, where)
