"""One row per job, computed from its record and from the standalone run that it is compared
with."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping
from typing import Any

from bell_bench.records import (
    COSTS,
    SCORES,
    Job,
    JobAccuracies,
    Record,
    job_costs,
    job_scores,
    standalone_run,
)
from bell_bench_leaderboard.derived import budget_scores, growth

COLUMNS = (
    "algorithm", "suite", "sequence", "realisation", "seed", "scale", "data", "protocol",
    "status", *(score.name for score in SCORES if score.shown),
    *(cost.name for cost in COSTS if cost.column and cost.name != "flop_coverage"),
    "suite_version", "flop_coverage", *(score.name for score in SCORES if not score.shown),
    "reason", "check",
)  # fmt: skip
VARIANT = ("options", "provider", "device", "threads", "software")
"""What else must agree for two jobs of one algorithm to be averaged."""

Row = dict[str, Any]


def match(record: Record) -> tuple[Any, ...]:
    """Return a key that is equal for two jobs on the same problems: the settings, and every image
    and label."""
    problems = tuple((each.fingerprint, each.test_fingerprint) for each in record.problems)
    return (*record.job.problems, problems)


def result_rows(records: Iterable[Record]) -> list[Row]:
    """Return one row per record, in the given order; with Tr_last if the standalone run is among
    the records."""
    everything = list(records)
    runs = standalone_runs(everything)
    return [
        result_row(record, standalone_run(record.job, runs.get(match(record), [])))
        for record in everything
    ]


def standalone_runs(records: Iterable[Record]) -> dict[tuple[Any, ...], list[tuple[Job, Record]]]:
    """Return the standalone runs among the records, each with its job, keyed by ``match``."""
    found: dict[tuple[Any, ...], list[tuple[Job, Record]]] = {}
    for record in records:
        if record.done and record.job.is_standalone:
            found.setdefault(match(record), []).append((record.job, record))
    return found


def result_row(record: Record, standalone: Record | None) -> Row:
    """Return the columns of the CSV, and what boards need besides.

    These are: under ``variant`` the other settings in which two jobs may differ; the realisation's
    seed; the ``imported`` images; under ``problems`` a hash of every image and label, which must be
    equal for two jobs to be paired; and derived figures.
    """
    job = record.job
    row: Row = {name: getattr(job, name, None) for name in COLUMNS}
    row["variant"] = {name: getattr(job, name) for name in VARIANT}
    row |= {"status": record.status, "reason": record.reason, "data": job.images,
            "check": getattr(record, "check", ""), "imported": job.imported,
            "standalone": job.is_standalone, "realisation_seed": job.realisation_seed}  # fmt: skip
    row["problems"] = hashlib.sha256(repr(match(record)[-1]).encode()).hexdigest()[:16]
    row |= {"solved": len(record.problems), **job_costs(record)}
    if record.done:
        row |= job_scores(JobAccuracies.of(record, standalone))
        row |= growth(record, standalone)
        if standalone is not None:
            alone = job_scores(JobAccuracies.of(standalone))
            row["A_gain"] = row["A"] - alone["A"]
            row |= budget_scores(record, standalone)
    return row


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the rows as CSV, one line per job."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(row[name]) for name in COLUMNS} for row in rows)
    return text.getvalue()


def csv_cell(value: Any) -> Any:
    """Return a value as a cell: numbers with six digits, texts made safe."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return csv_text(value) if isinstance(value, str) else value


def csv_text(text: str) -> str:
    """Return a record's text as a cell: printable, and never a formula that a spreadsheet would
    compute."""
    plain = printable(text)
    return f"'{plain}" if plain.startswith(("=", "+", "-", "@")) else plain


def printable(text: str) -> str:
    """Return a text from a result file without the characters that could control a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
