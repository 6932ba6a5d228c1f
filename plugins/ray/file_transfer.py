"""A job's files on their way between two machines that share no folder. Imports nothing heavy.

``FileContents`` maps file names, relative to a folder of results, to contents. The order is the
order of writing: a file comes after all files that it refers to.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from bell_bench.errors import BellBenchError
from bell_bench.files import TEMPORARY, write_whole
from bell_bench.harness.state import Checkpoints
from bell_bench.records import Job, ResultStore

FileContents: TypeAlias = Mapping[str, bytes]


def checkpoint_files(store: ResultStore, job: Job) -> list[pathlib.Path]:
    """Return the files that a job needs to go on after its last solved problem; none if it has
    solved none."""
    work = store.folder_of(job).work
    saved = Checkpoints(work / "checkpoints").files()
    return [*_whole_files(work / "library"), *saved] if saved else []


def evaluation_files(store: ResultStore) -> Iterator[pathlib.Path]:
    """Yield the files of the evaluation store."""
    for shard in _listed(store.evaluations):
        yield from (file for file in _whole_files(shard) if file.suffix == ".safetensors")


def pack(store: ResultStore, files: list[pathlib.Path]) -> FileContents:
    """Return the contents of the files; none at all if a file has disappeared, as one of a
    checkpoint may."""
    try:
        return {str(file.relative_to(store.folder)): file.read_bytes() for file in files}
    except FileNotFoundError:
        return {}


def is_marker(name: str) -> bool:
    """Return whether a file completes a checkpoint. An algorithm may have a file of the same name
    inside it."""
    return pathlib.PurePath(name).match("checkpoints/*/complete")


def unpack(store: ResultStore, files: FileContents) -> None:
    """Write the files that have arrived, and drop the checkpoints that newer ones replace."""
    for name, content in files.items():
        file = (store.folder / name).resolve()
        if not file.is_relative_to(store.folder.resolve()):
            raise BellBenchError(
                f"a node has sent the file {name!r}, which is outside {store.folder}"
            )
        write_whole(file, content)
        if is_marker(name):
            Checkpoints(file.parents[1]).keep_only(file.parent)


def _whole_files(folder: pathlib.Path) -> list[pathlib.Path]:
    return [file for file in _listed(folder) if not file.name.startswith(TEMPORARY)]


def _listed(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
