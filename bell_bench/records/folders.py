"""The result store: one folder per job, with plain files."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import filelock

from bell_bench.errors import BellBenchError
from bell_bench.files import (
    LARGEST_JSON,
    check_seal,
    read_json,
    read_whole,
    sha256,
    write_json,
    write_sealed,
)
from bell_bench.records.job import Job
from bell_bench.records.record import Record, parse_record


@dataclass(frozen=True)
class JobFolder:
    """The folder where one job keeps its record, predictions, log, events and checkpoints."""

    path: pathlib.Path

    @property
    def job_file(self) -> pathlib.Path:
        return self.path / "job.json"

    @property
    def record_file(self) -> pathlib.Path:
        return self.path / "record.json"

    @property
    def predictions_file(self) -> pathlib.Path:
        return self.path / "predictions.npz"

    @property
    def log_file(self) -> pathlib.Path:
        return self.path / "log.txt"

    @property
    def events_file(self) -> pathlib.Path:
        return self.path / "events.jsonl"

    @property
    def lock_file(self) -> pathlib.Path:
        return self.path / "lock"

    @property
    def work(self) -> pathlib.Path:
        """The folder of the library and the checkpoints."""
        return self.path / "work"

    def job(self) -> Job:
        return Job.from_json(read_json(self.job_file))

    def record(self) -> Record | None:
        """Return the record, or None if the job has not ended yet."""
        try:
            text = read_whole(self.record_file, LARGEST_JSON)
            check_seal(text)
            return parse_record(text)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise BellBenchError(
                f"{self.record_file} cannot be read ({error}): delete it and run the same command "
                "again to redo this job. If another version of bell-bench wrote it, use another "
                "--out folder"
            ) from error

    def write(self, record: Record) -> None:
        """Write the record, sealed, so that damage shows."""
        write_sealed(self.record_file, record.to_json())

    def finished(self) -> bool:
        """Return whether the job has a sound result that needs no more work."""
        try:
            record = self.record()
            if record is None or not record.done:
                return record is not None and record.status == "unsupported"
            found = sha256(read_whole(self.predictions_file, LARGEST_JSON))
        except (BellBenchError, OSError, ValueError):
            return False
        return record.predictions_sha256 in (None, found)

    def clear(self) -> None:
        """Delete everything except the job's own description."""
        for entry in self.path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry not in (self.job_file, self.lock_file):
                entry.unlink()


class ResultStore:
    """A folder of job folders, with the evaluation store that all its jobs share."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    @property
    def evaluations(self) -> pathlib.Path:
        return self.folder / "evaluations"

    def folder_of(self, job: Job) -> JobFolder:
        return JobFolder(self.folder / job.name)

    def prepare(self, job: Job, *, fresh: bool) -> JobFolder:
        """Return the job's folder, made if need be; ``fresh`` deletes what an earlier run left."""
        folder = self.folder_of(job)
        if fresh and folder.path.exists():
            try:
                with filelock.FileLock(folder.lock_file, timeout=0):
                    folder.clear()
            except filelock.Timeout:
                raise BellBenchError(
                    f"{folder.path} is in use by another run: wait for it, or use another --out"
                ) from None
        for file in (folder.lock_file, folder.log_file, folder.events_file):  # these are written to
            if file.is_symlink() or file.is_fifo():
                file.unlink()
        write_json(folder.job_file, job.to_json())
        return folder

    def __iter__(self) -> Iterator[JobFolder]:
        if self.folder.is_dir():
            for path in sorted(self.folder.iterdir()):
                if (path / "job.json").is_file():
                    yield JobFolder(path)

    def finished(self, job: Job) -> bool:
        return self.folder_of(job).finished()
