"""Find the files of jobs: in a folder of runs, or in a submission."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from bell_bench.files import LARGEST_JSON, read_whole
from bell_bench.records.packed.refused import Refused, shown
from bell_bench.records.packed.submission import Submission

PACKED = ".zip"


class JobFiles(Protocol):
    """One job's files, by name; its text says where they are."""

    def read(self, name: str) -> bytes:
        """Return a file's content; raise FileNotFoundError if it is missing."""
        ...


@dataclass(frozen=True)
class UnpackedJob:
    """A job's folder, as the harness leaves it."""

    path: pathlib.Path

    def __str__(self) -> str:
        return str(self.path)

    def read(self, name: str) -> bytes:
        return read_whole(self.path / name, LARGEST_JSON)


@dataclass(frozen=True)
class PackedJob:
    """A job in a submission; nothing is unpacked to disk."""

    file: pathlib.Path
    submission: Submission
    name: str

    def __str__(self) -> str:
        return f"{self.file}/{self.name}"

    def read(self, name: str) -> bytes:
        return self.submission.content(self.name, name)


def find_jobs(paths: Iterable[pathlib.Path]) -> Iterator[JobFiles]:
    """Yield the jobs in folders of runs, in job folders, and in submissions beside them."""
    for path in paths:
        if path.suffix == PACKED:
            yield from _packed(path)
        elif _is_job(path):
            yield UnpackedJob(path)
        else:
            yield from map(UnpackedJob, sorted(_jobs(path)))
            for file in sorted(path.glob(f"*{PACKED}")):
                if file.is_file():
                    yield from _packed(file)


def _is_job(folder: pathlib.Path) -> bool:
    return (folder / "record.json").is_file() or (folder / "job.json").is_file()


def _jobs(folder: pathlib.Path) -> set[pathlib.Path]:
    return {file.parent for name in ("record", "job") for file in folder.glob(f"*/{name}.json")}


def _packed(file: pathlib.Path) -> Iterator[JobFiles]:
    """Yield the jobs of a submission, without those that were changed in it; none if the submission
    is refused or its files are not those that its manifest lists."""
    try:
        submission = Submission.read(file)
    except Refused as error:
        warnings.warn(str(error), stacklevel=4)
        return
    if wrong := list(submission.faults()):
        more = f", and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
        warnings.warn(f"{file} is refused: {'; '.join(map(shown, wrong[:3]))}{more}", stacklevel=4)
        return
    for name in submission.jobs:
        faults = submission.entry(name).faults
        if faults:
            warnings.warn(f"{file}/{name} is left out: {'; '.join(faults)}", stacklevel=4)
        else:
            yield PackedJob(file, submission, name)
