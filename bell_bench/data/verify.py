"""Re-checking what is on disk against its checksums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bell_bench.data import official
from bell_bench.data.catalogue import Collection, OfficialFile
from bell_bench.data.declared import chosen_collections, official_domains
from bell_bench.data.imported import imported_path, read_imported
from bell_bench.data.status import statuses
from bell_bench.errors import BellBenchError, unknown
from bell_bench.folders import data_folder


@dataclass(frozen=True)
class DataVerdict:
    """One checked file."""

    file: str
    ok: bool
    detail: str


def verify(names: Iterable[str] = ()) -> list[DataVerdict]:
    """Check every file present for these domains, or for all, whole and in part."""
    domains = [row.name for row in statuses("images")]
    asked = list(names) or domains
    for name in asked:
        if name not in domains:
            raise unknown("domain", name, domains)
    known = official_domains()
    imported = [name for name in asked if imported_path(name).is_file()]
    verdicts = [_imported(name) for name in imported]
    for collection in chosen_collections(
        name for name in asked if name in known and name not in imported
    ):
        for file in collection.files:
            verdicts += _official(collection, file)
    return verdicts


def _imported(name: str) -> DataVerdict:
    path = str(imported_path(name))
    try:
        read_imported(name)
    except BellBenchError as error:
        return DataVerdict(path, False, str(error))
    return DataVerdict(path, True, "as imported")


def _official(collection: Collection, file: OfficialFile) -> list[DataVerdict]:
    packed = data_folder() / file.path
    found = official.on_disk(file)
    try:
        if found == [packed]:
            official.check_md5(packed, file)
            return [DataVerdict(str(packed), True, "MD5 as published")]
        if found and all(official.on_disk(other) for other in collection.files):
            official.read(collection)
    except BellBenchError as error:
        return [DataVerdict(str(packed), False, str(error))]
    return [DataVerdict(str(path), True, "unpacked: readable, no checksum known") for path in found]
