"""What is in a submission: its manifest, and job by job the record and the predictions."""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bell_bench.files import sha256
from bell_bench.harness.job import Job
from bell_bench_leaderboard.submission.archive import MIB, Archive, ArchiveLimits
from bell_bench_leaderboard.submission.arrays import Arrays, read_predictions
from bell_bench_leaderboard.submission.machine_paths import local_paths
from bell_bench_leaderboard.submission.plain_json import read_json
from bell_bench_leaderboard.submission.refused import Refused, shown
from bell_bench_leaderboard.submission.schema import MANIFEST, RECORD, complaints

LIMITS = ArchiveLimits(archive=64 * MIB, files=20_000, each=16 * MIB, total=1024 * MIB)
MANIFEST_FILE = "manifest.json"


NOT_ITS_OWN = "it is not the file that the record was made with: its sha256 is another"


def belongs(record: dict[str, Any], predictions: bytes) -> bool:
    """Whether these are the predictions a record was made with; old ones do not tell."""
    stated = record.get("predictions_sha256")
    return stated is None or sha256(predictions) == stated


def record_file(job: str) -> str:
    return f"jobs/{job}/record.json"


def predictions_file(job: str) -> str:
    return f"jobs/{job}/predictions.npz"


@dataclass
class SubmittedJob:
    """One job of a submission, as far as it could be read, and what is wrong with its files."""

    name: str
    job: Job | None = None
    record: dict[str, Any] | None = None
    """Of the right form, whatever it says."""
    predictions: Arrays | None = None
    faults: list[str] = field(default_factory=list)


class Submission:
    """An open archive. What is wrong as a whole is refused, what is wrong in a job is told."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        if MANIFEST_FILE not in archive:
            raise Refused(f"it has no {MANIFEST_FILE}: make it with `bell-bench submit`")
        try:
            self.manifest: dict[str, Any] = read_json(archive.read(MANIFEST_FILE))
        except Refused as error:
            raise Refused(f"{MANIFEST_FILE}: {error}") from error
        if wrong := complaints(MANIFEST, self.manifest, "manifest"):
            raise Refused("\n  ".join([f"{MANIFEST_FILE} is not as it should be:", *wrong]))

    @staticmethod
    def read(file: pathlib.Path) -> Submission:
        """The submission in a file; refused if it is none."""
        try:
            with file.open("rb") as stream:
                content = stream.read(LIMITS.archive + 1)
            return Submission(Archive(content, LIMITS))
        except Refused as error:
            raise Refused(f"{file} is refused: {error}") from error
        except OSError as error:
            raise Refused(f"{file} cannot be read: {error}") from error

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs that the manifest lists."""
        return sorted(self.manifest["jobs"])

    def faults(self) -> Iterator[str]:
        """Where the files are not those that the manifest lists."""
        listed, here = set(self.manifest["files"]), set(self._archive.names) - {MANIFEST_FILE}
        expected = {record_file(job) for job in self.jobs} | {
            predictions_file(job)
            for job, claim in self.manifest["jobs"].items()
            if claim["status"] == "done"
        }
        for name in sorted(listed | here | expected):
            if name not in here:
                yield f"{name} is missing"
            elif name not in listed:
                yield f"{name} is not in the manifest's list of files"
            elif name not in expected:
                yield f"{name} belongs to no job of the manifest, or to one that is not done"

    def entry(self, name: str) -> SubmittedJob:
        """One job: its files read, compared with their hashes and with the schema."""
        entry = SubmittedJob(name)
        content = self._content(record_file(name), entry)
        if content is not None:
            try:
                _take_record(entry, read_json(content))
            except Refused as error:
                entry.faults.append(f"record.json: {error}")
        content = self._content(predictions_file(name), entry)
        if content is not None:
            if entry.record and not belongs(entry.record, content):
                entry.faults.append(f"predictions.npz: {NOT_ITS_OWN}")
            try:
                entry.predictions = read_predictions(content)
            except Refused as error:
                entry.faults.append(f"predictions.npz: {error}")
        return entry

    def content(self, job: str, name: str) -> bytes:
        """A file of a job as it is, unchecked; FileNotFoundError if it is not there."""
        file = f"jobs/{job}/{name}"
        if file not in self._archive:
            raise FileNotFoundError(file)
        return self._archive.read(file)

    def _content(self, file: str, entry: SubmittedJob) -> bytes | None:
        """A file's bytes; None if it is not there or cannot be read."""
        if file not in self._archive:
            return None
        short = file.rpartition("/")[2]
        try:
            content = self._archive.read(file)
        except Refused as error:
            entry.faults.append(f"{short}: {error}")
            return None
        stated = self.manifest["files"].get(file)
        if stated is not None and sha256(content) != stated:
            entry.faults.append(f"{short}: its sha256 is not the manifest's: it was changed")
        return content


def _take_record(entry: SubmittedJob, record: Any) -> None:
    wrong = complaints(RECORD, record, "record")
    entry.faults += wrong
    for where, path in itertools.islice(local_paths(record), 5):
        entry.faults.append(
            f"record.{shown(where)} holds a path of a machine, {shown(path)}: pack it with "
            "`bell-bench submit`, which cuts them out"
        )
    if wrong:
        return
    entry.record, entry.job = record, Job.from_json(record["job"])
    if entry.job.name != entry.name:
        entry.faults.append(f"its record is that of another job, {entry.job.name}")
