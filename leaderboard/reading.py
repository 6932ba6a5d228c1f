"""Reading runs: every record, with its accuracies recomputed from its predictions."""

from __future__ import annotations

import json
import math
import pathlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bell_bench import metrics
from bell_bench.files import RECORD_SCHEMA, check_seal, parse_json, sha256
from bell_bench.import_strings import clip
from bell_bench_leaderboard.places import JobFiles, places
from bell_bench_leaderboard.predictions import accuracy, read_predictions

TOLERANCE = 1e-6
"""How far a stored accuracy in [0, 1] may lie from the recomputed one."""
RECOMPUTED = "recomputed from predictions"
AS_RECORDED = "as recorded: no predictions"
MISMATCH = "mismatch"
"""The status of a record that its own predictions contradict."""
UNFINISHED = "unfinished"
"""The status of a job that was planned and has no record."""
_JOB = {"algorithm": str, "provider": str, "suite": str, "suite_version": str, "sequence": str,
        "scale": str, "data": str, "protocol": str, "realisation": int, "realisation_seed": int,
        "seed": int, "options": dict}  # fmt: skip
_COSTS = ("wall_s", "cpu_s", "updates", "train_flops", "paths_evaluated", "paths_trained",
          "peak_memory_bytes", "stored_bytes")  # fmt: skip

Record = Mapping[str, Any]


def read_records(paths: Iterable[pathlib.Path]) -> list[Record]:
    """All records in folders of runs, in job folders themselves or in submissions; a job counts
    once.

    Each gets two entries more: ``place``, and ``check``, which says where its accuracies come
    from. A record that its predictions contradict gets the status ``mismatch``; a job without a
    record is ``unfinished``.
    """
    found: dict[str, Record] = {}
    for place in places(paths):
        record = _read(place)
        if record is not None:
            _keep(found, record)
    return list(found.values())


def _keep(found: dict[str, Record], record: Record) -> None:
    """A job that was read before counts once: the record that is done, else the first. Run twice,
    it takes other seconds and must have the same accuracies."""
    key = json.dumps(record["job"], sort_keys=True)
    known = found.get(key)
    if known is None or (known["status"] != "done" and record["status"] == "done"):
        found[key] = record
    elif record["status"] == "done" and _accuracies(record) != _accuracies(known):
        warnings.warn(
            f"{record['place']} is left out: the same job as {known['place']}, other figures",
            stacklevel=4,
        )


def _accuracies(record: Record) -> list[tuple[float, float]]:
    return [(each["accuracy_learnt"], each["accuracy_final"]) for each in record["problems"]]


def _read(place: JobFiles) -> Record | None:
    """A job's record, or None with a warning where there is none that can be read."""
    try:
        try:
            record = parse_json(text := place.read("record.json"))
        except FileNotFoundError:
            job, text = parse_json(place.read("job.json")), b""
            record = {"schema": RECORD_SCHEMA, "status": UNFINISHED, "reason": "no record yet",
                      "job": job, "problems": [], "matrix": []}  # fmt: skip
        _check_form(record)
    except (OSError, ValueError, KeyError, TypeError) as error:
        warnings.warn(f"{place}/record.json is left out: {clip(repr(error))}", stacklevel=3)
        return None
    return {**record, **_checked(record, text, place), "place": place}


def _check_form(record: Any) -> None:
    """What every later step relies on."""
    if record["schema"] != RECORD_SCHEMA:
        raise ValueError(f"schema {record['schema']}, not {RECORD_SCHEMA}")
    for name, kind in _JOB.items():
        if not isinstance(record["job"][name], kind):
            raise TypeError(f"job.{name} is {record['job'][name]!r}")
    imported = record["job"].get("imported", {})
    hashes = imported.values() if isinstance(imported, dict) else (None,)
    if not all(isinstance(each, str) for each in hashes):
        raise TypeError(f"job.imported is {imported!r}")
    if not isinstance(record["status"], str):
        raise TypeError(f"status is {record['status']!r}")
    for name in ("environment", "metrics"):
        if not isinstance(record.get(name, {}), dict):
            raise TypeError(f"{name} is {record[name]!r}")
    if not all(map(math.isfinite, record.get("metrics", {}).values())):
        raise ValueError("a metric without end")
    for problem in record["problems"]:
        _check_problem(problem, done=record["status"] == "done")
    if record["status"] == "done":
        count = len(record["problems"])
        shape = [len(row) for row in record["matrix"]]
        if not count or shape not in ([], list(range(1, count + 1))):
            raise ValueError(f"{count} problems and a matrix of {shape}")
        if not all(0 <= each <= 1 for row in record["matrix"] for each in row):
            raise ValueError("an accuracy in the matrix that is none")


def _check_problem(problem: Mapping[str, Any], *, done: bool) -> None:
    """Costs are numbers, and accuracies where there must be some."""
    used = problem["resources"]
    if not all(0 <= used[name] < math.inf for name in _COSTS):
        raise ValueError("a cost below zero or without end")
    if (coverage := used.get("flop_coverage")) is not None and not 0 <= coverage <= 1:
        raise ValueError(f"a coverage of {coverage}")
    if not problem.get("classes", 2) >= 1:
        raise ValueError(f"{problem['classes']} classes")
    if not isinstance(problem.get("path"), list | None):
        raise TypeError(f"a path that is {problem['path']!r}")
    if not all(isinstance(problem[name], str) for name in ("fingerprint", "test_fingerprint")):
        raise TypeError("a fingerprint is no text")
    for when in ("learnt", "final") if done else ():
        if not 0 <= problem[f"accuracy_{when}"] <= 1:
            raise ValueError(f"an accuracy of {problem[f'accuracy_{when}']}")


def _checked(record: Record, text: bytes, place: JobFiles) -> dict[str, Any]:
    """Where the accuracies come from; the status ``mismatch`` where they contradict each other, or
    the record is not as it was written."""
    try:
        check_seal(text, record)
    except ValueError as error:
        return _mismatch(f"record.json is damaged: {error}")
    if record["status"] != "done":
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
    """The first figure of a record that its predictions do not give; empty if all agree."""
    if record.get("predictions_sha256", own := sha256(predictions)) != own:
        return "predictions.npz is not the file that was recorded: its hash differs"
    found = read_predictions(predictions, matrix=bool(record["matrix"]))
    scores: dict[tuple[int, int], float] = {}
    for what, here, name, index in _stated(record):
        same = id(found.get(name)), index
        there = scores[same] = scores[same] if same in scores else accuracy(found, name, index)
        if abs(here - there) > TOLERANCE:
            return (f"{what} of problem {index + 1} is {here:.6g} in the record, "
                    f"{there:.6g} by the predictions")  # fmt: skip
    return _own_contradiction(record)


def _stated(record: Record) -> Iterator[tuple[str, float, str, int]]:
    """Every accuracy of a record: what it is called, its value, its predictions, its problem."""
    for index, problem in enumerate(record["problems"]):
        for when in ("learnt", "final"):
            yield f"accuracy_{when}", problem[f"accuracy_{when}"], f"{when}_{index}", index
    for after, row in enumerate(record["matrix"]):
        for index, here in enumerate(row):
            yield f"the accuracy after {after + 1}", here, f"after_{after}_{index}", index


def _own_contradiction(record: Record) -> str:
    """Whether a record's metrics follow from its accuracies; old records have none."""
    final, learnt = (
        [problem[f"accuracy_{when}"] for problem in record["problems"]]
        for when in ("final", "learnt")
    )
    derived = metrics.of_accuracies(final, learnt)
    for name, value in record.get("metrics", {}).items():
        if name in derived and not math.isclose(value, derived[name], abs_tol=100 * TOLERANCE):
            return f"{name} is {value:.6g} in the record, {derived[name]:.6g} by its accuracies"
    return ""


def checked_matrix(record: Record) -> list[list[float]]:
    """The accuracy matrix, which reading has compared with the predictions where there are some;
    none for what is not done."""
    checked = record.get("check") in (RECOMPUTED, AS_RECORDED)
    return [list(map(float, row)) for row in record["matrix"]] if checked else []
