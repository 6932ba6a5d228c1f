"""Read runs: every record, with its accuracies recomputed from its predictions."""

from __future__ import annotations

import math
import pathlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from bell_bench.files import check_seal, parse_json, sha256
from bell_bench.records.job import Job
from bell_bench.records.job_files import JobFiles, find_jobs
from bell_bench.records.predictions import accuracy, read_predictions
from bell_bench.records.record import Record, parse_record
from bell_bench.records.scores import JobAccuracies, recorded_scores

TOLERANCE = 1e-6
"""How far a stored accuracy in [0, 1] may differ from the recomputed one."""
RECOMPUTED = "recomputed from predictions"
AS_RECORDED = "as recorded: no predictions"
MISMATCH = "mismatch"
"""The status of a record that its own predictions contradict."""
UNFINISHED = "unfinished"
"""The status of a job that was planned and has no record."""


class ReadRecord(Record, frozen=True, kw_only=True):
    """A record that was read: with the place of its files, and the source of its accuracies."""

    place: Any = None
    """A ``JobFiles``; its text says where the files are."""
    check: str = ""

    @property
    def checked_matrix(self) -> list[list[float]]:
        """The accuracy matrix, compared with any predictions; empty if the job is not done."""
        return self.matrix if self.check in (RECOMPUTED, AS_RECORDED) else []

    def to_json(self) -> dict[str, Any]:
        """Return the record alone, as its file holds it."""
        return Record(**_fields(self)).to_json()


def read_records(paths: Iterable[pathlib.Path]) -> list[ReadRecord]:
    """Return all records in folders of runs, in job folders or in submissions; each job counts
    once.

    A record that its predictions contradict gets the status ``mismatch``; a job without a record is
    ``unfinished``.
    """
    found: dict[str, ReadRecord] = {}
    for place in find_jobs(paths):
        record = _read(place)
        if record is not None:
            _keep(found, record)
    return list(found.values())


def _fields(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in Record.__struct_fields__}


def _keep(found: dict[str, ReadRecord], record: ReadRecord) -> None:
    """Add a record. A job that was read before counts once: the record that is done is kept, else
    the first. A job run twice takes different seconds, but must have the same accuracies."""
    key = record.job.key
    known = found.get(key)
    if known is None or (record.done and not known.done):
        found[key] = record
    elif record.done and (record.learnt, record.final) != (known.learnt, known.final):
        warnings.warn(
            f"{record.place} is left out: the same job as {known.place}, other figures",
            stacklevel=4,
        )


def _read(place: JobFiles) -> ReadRecord | None:
    """Return a job's record; None, with a warning, if it cannot be read."""
    try:
        try:
            record = parse_record(text := place.read("record.json"))
        except FileNotFoundError:
            job, text = Job.from_json(parse_json(place.read("job.json"))), b""
            record = Record(status=UNFINISHED, reason="no record yet", job=job, problems=[])
    except (OSError, ValueError) as error:
        warnings.warn(f"{place}/record.json is left out: {_brief(error)}", stacklevel=3)
        return None
    return ReadRecord(**{**_fields(record), **_checked(record, text, place)}, place=place)


def _brief(error: Exception) -> str:
    told = repr(error)
    return told if len(told) <= 300 else f"{told[:299]}…"


def _checked(record: Record, text: bytes, place: JobFiles) -> dict[str, Any]:
    """Return the source of the accuracies; the status ``mismatch`` if they contradict each other or
    the record has changed since it was written."""
    try:
        check_seal(text)
    except ValueError as error:
        return _mismatch(f"record.json is damaged: {error}")
    if not record.done:
        return {"check": ""}
    try:
        fault = contradiction(record, place.read("predictions.npz"))
    except FileNotFoundError:
        fault = _own_contradiction(record)
        return _mismatch(fault) if fault else {"check": AS_RECORDED}
    except (OSError, ValueError, KeyError) as error:
        fault = f"predictions cannot be scored: {error}"
    return _mismatch(fault) if fault else {"check": RECOMPUTED}


def _mismatch(fault: str) -> dict[str, Any]:
    return {"status": MISMATCH, "reason": fault, "check": MISMATCH}


def contradiction(record: Record, predictions: bytes) -> str:
    """Return the first figure of a record that its predictions contradict; empty if all agree."""
    if record.predictions_sha256 not in (None, sha256(predictions)):
        return "predictions.npz is not the file that was recorded: its hash differs"
    found = read_predictions(predictions, matrix=bool(record.matrix))
    scores: dict[tuple[int, int], float] = {}
    for what, here, name, index in _stated(record):
        same = id(found.get(name)), index
        there = scores[same] = scores[same] if same in scores else accuracy(found, name, index)
        if abs(here - there) > TOLERANCE:
            return (f"{what} of problem {index + 1} is {here:.6g} in the record, "
                    f"{there:.6g} by the predictions")  # fmt: skip
    return _own_contradiction(record)


def _stated(record: Record) -> Iterator[tuple[str, float, str, int]]:
    """Yield every accuracy of a record: its name, its value, its predictions, its problem."""
    for index, (learnt, final) in enumerate(zip(record.learnt, record.final, strict=True)):
        yield "accuracy_learnt", learnt, f"learnt_{index}", index
        yield "accuracy_final", final, f"final_{index}", index
    for after, row in enumerate(record.matrix):
        for index, here in enumerate(row):
            yield f"the accuracy after {after + 1}", here, f"after_{after}_{index}", index


def _own_contradiction(record: Record) -> str:
    """Return the first metric that a record's accuracies contradict; empty if all agree or, as in
    old records, there are none."""
    derived = recorded_scores(JobAccuracies.of(record))
    for name, value in (record.metrics or {}).items():
        if name in derived and not math.isclose(value, derived[name], abs_tol=100 * TOLERANCE):
            return f"{name} is {value:.6g} in the record, {derived[name]:.6g} by its accuracies"
    return ""
