"""One row per job, computed from its record and from the standalone run it is measured against."""

from __future__ import annotations

import csv
import io
import json
import pathlib
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
STANDALONE = "sa"
MEGABYTE = 1024**2

Record = Mapping[str, Any]
Row = dict[str, Any]


def read_records(folders: Iterable[pathlib.Path]) -> list[Record]:
    """All records in folders of runs, or in job folders themselves."""
    files: list[pathlib.Path] = []
    for folder in folders:
        own = folder / "record.json"
        files += [own] if own.is_file() else sorted(folder.glob("*/record.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


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
        if record["status"] == "done" and record["job"]["algorithm"] == STANDALONE
    }
    return [result_row(record, standalone.get(match(record))) for record in everything]


def result_row(record: Record, standalone: Record | None) -> Row:
    row: Row = {name: record["job"].get(name) for name in COLUMNS}
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
