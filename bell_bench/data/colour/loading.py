"""A colour domain by name and source."""

from __future__ import annotations

from dataclasses import asdict

from bell_bench.data import official
from bell_bench.data.arrays import Arrays
from bell_bench.data.catalogue import COLOUR
from bell_bench.data.colour import pools
from bell_bench.data.colour.datasets import DATASETS
from bell_bench.data.colour.domain import SPLITS, ColourDomain, ColourImages
from bell_bench.data.imported import imported_labels, imported_path, read_imported
from bell_bench.data.prepared import stamp, stored
from bell_bench.data.sources import IMAGES, determined_by, draw, source_domains, sources
from bell_bench.errors import BellBenchError, unknown


def load(name: str, data: str) -> ColourDomain:
    """The dataset's pools, memory-mapped; drawn or read once, then cached on disk."""
    if why := missing(name, data):
        raise BellBenchError(f"the images of {name} are not here: {why}")
    key: dict[str, object]
    if data != IMAGES:
        domain = source_domains(data)[name]
        key = {**determined_by(data, domain), **asdict(domain.sizes)}
        found = stored(name, key, lambda: draw(data, domain, domain.sizes))
    else:
        key = {"colour cut": pools.CUT, "name": name, "files": _stamps(name)}
        found = stored(name, key, lambda: pools.cut(_read(name), name))
    splits = {
        split: ColourImages(found.arrays[f"{split}_images"], found.arrays[f"{split}_labels"])
        for split in SPLITS
    }
    classes = int(splits["train"].labels.max()) + 1
    return ColourDomain(name=name, classes=classes, fingerprint=found.fingerprint, **splits)


def missing(name: str, data: str) -> str | None:
    """Why a dataset's images are not here and the command that gets them; None if they are."""
    from bell_bench.data.status import colour_status

    if data not in (IMAGES, *sources()):
        raise unknown("data source", data, sources())
    known = DATASETS if data == IMAGES else source_domains(data)
    if name not in known:
        raise unknown("dataset", name, known)
    if data != IMAGES:
        return None
    status = colour_status(name)
    return None if status.status == "present" else status.detail


def classes_here(name: str, data: str) -> int:
    """How many classes a dataset has: an import may have fewer than its name promises. Cheap."""
    if data != IMAGES:
        return source_domains(data)[name].classes
    if not imported_path(name).is_file():
        return DATASETS[name].classes
    return int(imported_labels(name).max()) + 1


def _stamps(name: str) -> list[object]:
    path = imported_path(name)
    if path.is_file():
        return [stamp(path)]
    return [stamp(found) for file in COLOUR[name].files for found in official.on_disk(file)]


def _read(name: str) -> Arrays:
    """The real images, 32x32 RGB, before they are cut."""
    if imported_path(name).is_file():
        return read_imported(name)
    content = official.read(COLOUR[name])
    return pools.check(content, COLOUR[name].title, name)
