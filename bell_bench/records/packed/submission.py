"""The content of a submission: its manifest, and for each job the record and the predictions."""

from __future__ import annotations

import itertools
import pathlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from bell_bench.files import sha256
from bell_bench.records.job import Job
from bell_bench.records.packed.archive import MIB, Archive, ArchiveLimits
from bell_bench.records.packed.arrays import Arrays, read_predictions
from bell_bench.records.packed.machine_paths import local_paths
from bell_bench.records.packed.plain_json import read_json
from bell_bench.records.packed.refused import Refused, shown
from bell_bench.records.record import STATUSES, Record
from bell_bench.records.structs import JsonStruct

LIMITS = ArchiveLimits(archive=64 * MIB, files=20_000, each=16 * MIB, total=1024 * MIB)
MANIFEST_FILE = "manifest.json"
NOT_ITS_OWN = "it is not the file that the record was made with: its sha256 is another"

_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.+-]*"
_JOB_TEXTS = {
    "algorithm": (100, rf"([a-z][a-z0-9-]*:)?{_NAME}"),  # perhaps with a family's prefix
    "load": (300, _LINE), "provider": (300, _LINE), "suite": (100, _NAME),
    "suite_version": (100, _LINE), "sequence": (100, _LINE), "scale": (100, _LINE),
    "data": (100, _LINE), "protocol": (100, _LINE), "device": (40, r"[a-z]+(:\d+)?"),
    "software": (300, _LINE),
}  # fmt: skip
"""How long each text of a job may be, and its pattern."""
MOST_OPTIONS = 200
MOST_NOTES = 100_000

Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
Line = Annotated[str, msgspec.Meta(max_length=200, pattern=rf"^{_LINE}\Z")]
Points = Annotated[float, msgspec.Meta(ge=-100, le=100)]
Claim = dict[str, str | Points | None]
"""A manifest's claim about a job: its ``status``, and its scores by name."""


class Manifest(JsonStruct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who made a submission, which files it has, and what it claims of every job."""

    format: Literal["bell-bench submission"] = "bell-bench submission"
    schema: Literal[1] = 1
    bell_bench: Line
    name: Line
    contact: Line
    files: Annotated[dict[str, Hash], msgspec.Meta(max_length=20_000)]
    jobs: Annotated[dict[str, Claim], msgspec.Meta(max_length=10_000)]

    def __post_init__(self) -> None:
        for kind, names, pattern in (
            ("file", self.files, r"[A-Za-z0-9_.+/-]+"),
            ("job", self.jobs, r"[A-Za-z0-9_.+-]+"),
        ):
            for name in names:
                if not re.fullmatch(pattern, name):
                    raise ValueError(f"{kind} {shown(name)!r} does not match {pattern}")
        for name, claim in self.jobs.items():
            if claim.get("status") not in STATUSES:
                raise ValueError(
                    f"jobs.{name}.status is {shown(claim.get('status'))}, not one of "
                    f"{', '.join(STATUSES)}"
                )


def belongs(record: Record, predictions: bytes) -> bool:
    """Return whether a record was made with these predictions; True for old records."""
    return record.predictions_sha256 in (None, sha256(predictions))


def record_file(job: str) -> str:
    return f"jobs/{job}/record.json"


def predictions_file(job: str) -> str:
    return f"jobs/{job}/predictions.npz"


@dataclass
class SubmittedJob:
    """One job of a submission, as far as it could be read, and the faults of its files."""

    name: str
    record: Record | None = None
    """A record of the right form, whatever its content."""
    predictions: Arrays | None = None
    faults: list[str] = field(default_factory=list)


class Submission:
    """An open archive. Raises Refused for faults of the whole; faults of a job are listed."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        if MANIFEST_FILE not in archive:
            raise Refused(f"it has no {MANIFEST_FILE}: make it with `bell-bench submit`")
        try:
            self.manifest = Manifest.from_json(read_json(archive.read(MANIFEST_FILE)))
        except Refused as error:
            raise Refused(f"{MANIFEST_FILE}: {error}") from error
        except ValueError as error:
            raise Refused(
                f"{MANIFEST_FILE} is not as it should be:\n  {shown(str(error))}"
            ) from error

    @staticmethod
    def read(file: pathlib.Path) -> Submission:
        """Return the submission in a file; raise Refused if it holds none."""
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
        return sorted(self.manifest.jobs)

    def faults(self) -> Iterator[str]:
        """Yield where the files differ from those that the manifest lists."""
        listed, here = set(self.manifest.files), set(self._archive.names) - {MANIFEST_FILE}
        expected = {record_file(job) for job in self.jobs} | {
            predictions_file(job)
            for job, claim in self.manifest.jobs.items()
            if claim["status"] == "done"
        }
        for name in sorted(listed | here | expected):
            if name not in here:
                yield f"{name} is missing"
            elif name not in listed:
                yield f"{name} is not in the manifest's list of files"
            elif name not in expected:
                yield f"{name} does not belong to a job of the manifest that is done"

    def entry(self, name: str) -> SubmittedJob:
        """Read one job's files, and check their hashes and types."""
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
        """Return a file of a job as it is, unchecked; raise FileNotFoundError if it is missing."""
        file = f"jobs/{job}/{name}"
        if file not in self._archive:
            raise FileNotFoundError(file)
        return self._archive.read(file)

    def _content(self, file: str, entry: SubmittedJob) -> bytes | None:
        """Return a file's bytes; None if it is missing or cannot be read."""
        if file not in self._archive:
            return None
        short = file.rpartition("/")[2]
        try:
            content = self._archive.read(file)
        except Refused as error:
            entry.faults.append(f"{short}: {error}")
            return None
        stated = self.manifest.files.get(file)
        if stated is not None and sha256(content) != stated:
            entry.faults.append(f"{short}: its sha256 is not the manifest's: it was changed")
        return content


def _take_record(entry: SubmittedJob, content: Any) -> None:
    if not isinstance(content, dict):
        entry.faults.append("record.json holds no record")
        return
    for where, path in itertools.islice(local_paths(content), 5):
        entry.faults.append(
            f"record.{shown(where)} holds a path of a machine, {shown(path)}: pack it with "
            "`bell-bench submit`, which cuts them out"
        )
    try:
        record = Record.from_json(content)
    except ValueError as error:
        entry.faults.append(f"record.{shown(str(error))}")
        return
    if wrong := record_faults(record):
        entry.faults += wrong
        return
    entry.record = record
    if record.job.name != entry.name:
        entry.faults.append(f"its record is that of another job, {record.job.name}")


def record_faults(record: Record) -> list[str]:
    """Return what a submitted record may not contain, though a record of one's own may."""
    return [f"record.{fault}" for fault in itertools.islice(_record_faults(record), 30)]


def _record_faults(record: Record) -> Iterator[str]:
    if record.status not in STATUSES:
        yield f"status is {shown(record.status)}, not one of {', '.join(STATUSES)}"
    yield from _text_fault("reason", record.reason, 5000, r"(?s:.*)")
    yield from job_faults(record.job)
    for name, value in (record.metrics or {}).items():
        if not -100 <= value <= 100:
            yield f"metrics.{shown(name)} is {value:g}, not from -100 to 100"
    for problem in record.problems:
        where = f"problems[{problem.index}]"
        yield from _text_fault(f"{where}.name", problem.name, 300, _LINE)
        for name in ("fingerprint", "test_fingerprint"):
            yield from _text_fault(f"{where}.{name}", getattr(problem, name), 64, r"[0-9a-f]{64}")
        for module in (problem.path or [])[:1001]:
            yield from _text_fault(f"{where}.path", module, 100, _LINE)
        if len(problem.path or ()) > 1000 or len(problem.notes) > MOST_NOTES:
            yield f"{where} has more than 1000 modules or {MOST_NOTES:,} notes"


def job_faults(job: Job) -> Iterator[str]:
    """Yield names and options of a job that are too long, or could affect what displays them."""
    for name, (longest, pattern) in _JOB_TEXTS.items():
        yield from _text_fault(f"job.{name}", getattr(job, name), longest, pattern)
    yield from _names_fault("job.options", job.options)
    yield from _names_fault("job.imported", job.imported)
    for name, value in job.options.items():
        if isinstance(value, dict | list):
            yield f"job.options.{shown(name)} is a {type(value).__name__}, not a single value"
    for name, value in job.imported.items():
        yield from _text_fault(f"job.imported.{shown(name)}", value, 16, r"[0-9a-f]{16}")


def _names_fault(where: str, values: Mapping[str, Any]) -> Iterator[str]:
    if len(values) > MOST_OPTIONS:
        yield f"{where} has {len(values):,} entries, more than {MOST_OPTIONS}"
    for name in itertools.islice(values, MOST_OPTIONS):
        yield from _text_fault(f"{where}: the name", name, 100, _NAME)


def _text_fault(where: str, text: str, longest: int, pattern: str) -> Iterator[str]:
    if len(text) > longest:
        yield f"{where} has {len(text):,} characters, more than {longest:,}"
    elif not re.fullmatch(pattern, text):
        yield f"{where} is {shown(text)!r}, which does not match {pattern}"
