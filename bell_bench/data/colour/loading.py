"""A colour domain by name and source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.data import official
from bell_bench.data.arrays import Arrays
from bell_bench.data.catalogue import COLOUR
from bell_bench.data.colour import pools
from bell_bench.data.colour.datasets import DATASETS
from bell_bench.data.colour.domain import SIDE, SPLITS, ColourDomain, ColourImages
from bell_bench.data.imported import imported_labels, imported_path, read_imported
from bell_bench.data.prepared import stamp, stored
from bell_bench.errors import BellBenchError, unknown
from bell_bench_drawn import colour as drawn

SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "glyphs": "embedded: objects, digits, garments and textures drawn by bell-bench, offline",
        "images": "CIFAR-10 and -100, SVHN, DTD, MNIST, Fashion-MNIST, or images you import",
    }
)


def load(name: str, data: str) -> ColourDomain:
    """The dataset's pools, memory-mapped; drawn or read once, then cached on disk."""
    if why := missing(name, data):
        raise BellBenchError(f"the images of {name} are not here: {why}")
    key: dict[str, object]
    if data == "glyphs":
        sizes = asdict(DATASETS[name].embedded)
        key = {"colour": drawn.VERSION, "name": name, **sizes}
        found = stored(name, key, lambda: _draw(name, sizes))
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

    if name not in DATASETS:
        raise unknown("dataset", name, DATASETS)
    if data not in SOURCES:
        raise unknown("data source", data, SOURCES)
    status = colour_status(name, data)
    return None if status.status == "present" else status.detail


def classes_here(name: str, data: str) -> int:
    """How many classes a dataset has: an import may have fewer than its name promises. Cheap."""
    path = imported_path(name)
    if data == "glyphs" or not path.is_file():
        return DATASETS[name].classes
    return int(imported_labels(name).max()) + 1


def _draw(name: str, sizes: Mapping[str, int]) -> Arrays:
    """All pools, labels going round 0 to the last class."""
    classes = DATASETS[name].classes
    made: dict[str, NDArray[Any]] = {}
    for split, count in sizes.items():
        images = np.empty((count, classes, SIDE, SIDE, 3), dtype=np.uint8)
        for label in range(classes):
            images[:, label] = drawn.draw(name, label, split, count)
        made[f"{split}_images"] = images.reshape(-1, SIDE, SIDE, 3)
        made[f"{split}_labels"] = np.arange(count * classes, dtype=np.int64) % classes
    return made


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
