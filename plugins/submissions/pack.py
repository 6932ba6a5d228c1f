"""Packs folders of runs into one file: records, predictions, and a manifest of their hashes."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from bell_bench.errors import BellBenchError, UsageError
from bell_bench.files import LARGEST_JSON, read_whole, sha256
from bell_bench.plugins import installed_version
from bell_bench.records import Job, JobAccuracies, JobFolder, Record, ResultStore
from bell_bench.records.packed.archive import write_archive
from bell_bench.records.packed.arrays import read_predictions
from bell_bench.records.packed.machine_paths import shorten
from bell_bench.records.packed.refused import Refused
from bell_bench.records.packed.submission import (
    LIMITS,
    MANIFEST_FILE,
    NOT_ITS_OWN,
    Claim,
    Manifest,
    belongs,
    predictions_file,
    record_faults,
    record_file,
)
from bell_bench_submissions.figures import all_scores, array_names, figures

Watch = Callable[[Sequence[JobFolder]], Iterable[JobFolder]]
"""Yields the folders, and shows the progress."""


@dataclass
class Packed:
    """The content of a submission, and what the submitter should know about it."""

    content: bytes = b""
    statuses: dict[str, str] = field(default_factory=dict)
    """The status of each job, by name."""
    shortened: list[str] = field(default_factory=list)
    """Places in records where paths of this machine were cut."""
    repeated: list[str] = field(default_factory=list)
    """Jobs that were found in several folders with the same predictions."""


@dataclass
class _JobToPack:
    """One job with what goes into the archive."""

    record: Record
    predictions: bytes | None = None
    accuracies: JobAccuracies | None = None

    @property
    def job(self) -> Job:
        return self.record.job


def pack(
    runs: Iterable[pathlib.Path], *, name: str = "", contact: str = "", watch: Watch = iter
) -> Packed:
    """Pack everything in these folders into one file. Raise an error that names all jobs that are
    unfinished or lack their standalone run."""
    packed = Packed()
    found = _collect(list(_job_folders(runs)), packed, watch)
    if lacking := list(_lacking([each.job for each in found.values()])):
        raise BellBenchError("\n".join(["Tr⁻¹ needs standalone runs that are not here:", *lacking]))
    files: dict[str, bytes] = {}
    for key, each in found.items():
        files[record_file(key)] = _json(each.record.to_json())
        if each.predictions is not None:
            files[predictions_file(key)] = each.predictions
    manifest = Manifest(
        bell_bench=str(installed_version("bell-bench")),
        name=name,
        contact=contact,
        files={file: sha256(content) for file, content in files.items()},
        jobs=_claims(found),
    ).to_json()
    try:
        Manifest.from_json(manifest)
    except ValueError as error:
        raise UsageError(f"manifest.{error}") from error
    packed.statuses = {key: each.record.status for key, each in found.items()}
    packed.content = write_archive({**files, MANIFEST_FILE: _json(manifest)})
    if len(packed.content) > LIMITS.archive:
        raise UsageError(
            f"these runs make a submission of {len(packed.content):,} bytes, and the limit is "
            f"{LIMITS.archive:,}: submit them in parts, each with its standalone runs"
        )
    return packed


def _job_folders(runs: Iterable[pathlib.Path]) -> Iterator[JobFolder]:
    for folder in runs:
        own = JobFolder(folder)
        found = [own] if own.job_file.is_file() else list(ResultStore(folder))
        if not found:
            raise UsageError(f"no results in {folder}: run `bell-bench evaluate --algo sa` first")
        yield from found


def _collect(folders: list[JobFolder], packed: Packed, watch: Watch) -> dict[str, _JobToPack]:
    """Return all jobs by name; raise an error if some of them cannot be submitted."""
    found: dict[str, _JobToPack] = {}
    faults: list[str] = []
    for folder in watch(folders):
        try:
            each = _read_job(folder, packed)
        except BellBenchError as error:
            faults.append(f"  {folder.path}: {error}")
            continue
        known = found.setdefault(each.job.name, each)
        if known is each:
            continue
        if known.predictions != each.predictions:
            faults.append(f"  {folder.path}: another folder holds this job with other predictions")
        packed.repeated.append(each.job.name)
    if faults:
        raise BellBenchError("\n".join(["this cannot be submitted as it is:", *faults]))
    return found


def _read_job(folder: JobFolder, packed: Packed) -> _JobToPack:
    """Return a job without anything specific to this machine. If it is not done, it has no scores
    either, because no predictions support them."""
    own = folder.record()
    if own is None or own.status == "interrupted":
        raise BellBenchError(
            "it has not ended: the same `bell-bench evaluate` command goes on with it, and "
            "--timeout gives it an end"
        )
    content, places = shorten(own.to_json())
    record = Record.from_json(content)
    if wrong := record_faults(record):
        raise BellBenchError("; ".join(wrong))
    found = _JobToPack(record if record.done else _without_scores(record))
    if record.done:
        try:
            found.predictions = read_whole(folder.predictions_file, LARGEST_JSON)
            if not belongs(record, found.predictions):
                raise Refused(NOT_ITS_OWN)
            found.accuracies = _score(found.predictions, len(record.problems))
        except (OSError, ValueError, Refused) as error:
            raise BellBenchError(f"predictions.npz: {error}; delete record.json beside it and run "
                                 "the same command again to redo this job") from error  # fmt: skip
    packed.shortened += [f"{found.job.name}: {place}" for place in places]
    return found


def _without_scores(record: Record) -> Record:
    problems = [
        structs.replace(problem, accuracy_learnt=None, accuracy_final=None)
        for problem in record.problems
    ]
    return structs.replace(record, problems=problems, matrix=[])


def _score(predictions: bytes, count: int) -> JobAccuracies:
    """Return the figures, computed with the labels that are stored beside the predictions."""
    arrays = read_predictions(predictions)
    if set(arrays) != array_names(count):
        raise Refused(f"its arrays are not those of {count} problems")
    labels = [arrays[f"labels_{index}"] for index in range(count)]
    for name, array in arrays.items():
        if len(array) != len(labels[int(name.rpartition("_")[2])]) or not len(array):
            raise Refused(f"{name} is not as long as its labels")
    return figures(arrays, labels)


def _lacking(jobs: list[Job]) -> Iterator[str]:
    """Yield the commands for the standalone runs that Tr⁻¹ needs and that are missing."""
    here = {job.problems for job in jobs if job.is_standalone}
    lacking = {
        f"  bell-bench evaluate --algo sa --suite {job.suite} --sequence {job.sequence} "
        f"--scale {job.scale} --data {job.data} --protocol {job.protocol} "
        f"--realisation {job.realisation} --seed {job.seed}"
        for job in jobs
        if job.problems not in here
    }
    yield from sorted(lacking)


def _claims(found: dict[str, _JobToPack]) -> dict[str, Claim]:
    """Return what the submission says of every job: its status and, if it is done, its scores."""
    done = {key: each.accuracies for key, each in found.items() if each.accuracies is not None}
    scores = all_scores({key: each.job for key, each in found.items()}, done)
    return {
        key: {"status": each.record.status, **scores.get(key, {})} for key, each in found.items()
    }


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
