"""A domain by name and source, at the sizes a scale asks for."""

from __future__ import annotations

from dataclasses import asdict

from bell_bench.data import arrays, official
from bell_bench.data.catalogue import OFFICIAL
from bell_bench.data.domain import Domain, DomainSizes
from bell_bench.data.imported import imported_path, read_imported
from bell_bench.data.prepared import Arrays, prepared, stamp
from bell_bench.data.sources import IMAGES, determined_by, draw, source_domains
from bell_bench.data.status import missing, plugin_domains
from bell_bench.errors import BellBenchError, UsageError, unknown
from bell_bench.problem import hash_arrays

CUT = 1
"""Part of every cache key of real images; changes when the way they are cut does."""


def load_domain(name: str, source: str, sizes: DomainSizes) -> Domain:
    """The domain's images, memory-mapped; drawn or read once, then cached on disk.

    A domain that holds fewer images than ``sizes`` asks for gives all it has.
    """
    for split, count in asdict(sizes).items():
        if count is not None and count < 1:
            raise UsageError(f"a domain of {count} {split} images was asked for; 1 is the least")
    if source == IMAGES:
        return _images(name, sizes)
    return _drawn(name, source, sizes)


def _drawn(name: str, source: str, sizes: DomainSizes) -> Domain:
    found = source_domains(source)
    if name not in found:
        raise unknown(f"domain of {source}", name, found)
    counts = found[name].sizes.at_most(sizes)
    key = {**determined_by(source, found[name]), **asdict(counts)}
    return prepared(name, key, lambda: draw(source, found[name], counts))


def _images(name: str, sizes: DomainSizes) -> Domain:
    if lacking := missing([name], IMAGES):
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
