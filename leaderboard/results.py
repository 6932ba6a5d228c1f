"""One row per job, computed from its record and from the standalone run it is measured against."""

from __future__ import annotations

import csv
import io
import json
import pathlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bell_bench import metrics

COLUMNS = (
    "algorithm", "suite", "sequence", "realisation", "seed", "scale", "data", "protocol",
    "status", "A", "F", "Tr_last", "wall_s", "cpu_s", "updates", "train_flops",
    "peak_memory_mb", "stored_mb", "paths_evaluated", "paths_trained",
)  # fmt: skip
EQUALS = ("suite", "suite_version", "sequence", "realisation_seed", "seed", "scale", "data",
          "protocol")  # fmt: skip
"""What must agree for two jobs to be compared problem by problem."""
VARIANT = ("options", "provider", "suite_version", "device", "threads", "software")
"""What else must agree for two jobs of one algorithm to be averaged."""
STANDALONE = ("sa", "bell-bench ")
"""The yardstick: its name, and how its provider begins."""
SCHEMA = 1
MEGABYTE = 1024**2

Record = Mapping[str, Any]
Row = dict[str, Any]


def read_records(folders: Iterable[pathlib.Path]) -> list[Record]:
    """All records in folders of runs, or in job folders themselves."""
    files: list[pathlib.Path] = []
    for folder in folders:
        own = folder / "record.json"
        files += [own] if own.is_file() else sorted(folder.glob("*/record.json"))
    return [record for file in files if (record := _read(file)) is not None]


def _read(file: pathlib.Path) -> Record | None:
    """A record, or None with a warning where a file is no record of this schema."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        if record["schema"] != SCHEMA:
            raise ValueError(f"schema {record['schema']}, not {SCHEMA}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        warnings.warn(f"{file} is left out: {error!r}", stacklevel=3)
        return None
    return dict(record)


def accuracies(record: Record, when: str) -> list[float]:
    """Per problem, the test accuracy when ``learnt`` or at the end (``final``)."""
    return [problem[f"accuracy_{when}"] for problem in record["problems"]]


def match(record: Record) -> tuple[Any, ...]:
    """Equal for two jobs on the same problems: settings, and every image and label."""
    problems = tuple((p["fingerprint"], p["test_fingerprint"]) for p in record["problems"])
    return (*(record["job"][name] for name in EQUALS), problems)


def result_rows(records: Iterable[Record]) -> list[Row]:
    """One row per record, in the given order; Tr_last where the standalone run is among them."""
    everything = list(records)
    standalone = {
        match(record): record
        for record in everything
        if record["status"] == "done" and _is_standalone(record["job"])
    }
    return [result_row(record, standalone.get(match(record))) for record in everything]


def _is_standalone(job: Mapping[str, Any]) -> bool:
    name, provider = STANDALONE
    return job["algorithm"] == name and str(job["provider"]).startswith(provider)


def result_row(record: Record, standalone: Record | None) -> Row:
    """The promised columns, and under ``variant`` what else tells two jobs apart."""
    row: Row = {name: record["job"].get(name) for name in COLUMNS}
    row["variant"] = {name: record["job"].get(name) for name in VARIANT}
    row |= {"status": record["status"], **costs(record["problems"])}
    if record["status"] == "done":
        final, learnt = accuracies(record, "final"), accuracies(record, "learnt")
        row["A"] = metrics.average_accuracy(final)
        row["F"] = metrics.forgetting(final, learnt)
        if standalone is not None:
            row["Tr_last"] = metrics.last_transfer(final, accuracies(standalone, "final"))
    return row


def costs(problems: Sequence[Mapping[str, Any]]) -> Row:
    """What the solved problems cost together."""
    used = [problem["resources"] for problem in problems]
    if not used:
        return {}
    totals = ("wall_s", "cpu_s", "updates", "train_flops", "paths_evaluated", "paths_trained")
    return {
        **{name: sum(each[name] for each in used) for name in totals},
        "peak_memory_mb": max(each["peak_memory_bytes"] for each in used) / MEGABYTE,
        "stored_mb": used[-1]["stored_bytes"] / MEGABYTE,
    }


def to_csv(rows: Iterable[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(row[name]) for name in COLUMNS} for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
