"""One row per job, computed from its record and from the standalone run it is measured against."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bell_bench import metrics
from bell_bench_leaderboard.derived import budget_scores, clock, growth
from bell_bench_leaderboard.reading import Record
from bell_bench_leaderboard.yardstick import (
    is_standalone,
    same_problems,
    told_images,
    yardstick,
)

COLUMNS = (
    "algorithm", "suite", "sequence", "realisation", "seed", "scale", "data", "protocol",
    "status", *(score.name for score in metrics.SCORES),
    "wall_s", "cpu_s", "updates", "train_flops",
    "peak_memory_mb", "stored_mb", "paths_evaluated", "paths_trained",
    "suite_version", "flop_coverage", "backward", "reason", "check",
)  # fmt: skip
VARIANT = ("options", "provider", "device", "threads", "software")
"""What else must agree for two jobs of one algorithm to be averaged."""
MEGABYTE = 1024**2

Row = dict[str, Any]


def accuracies(record: Record, when: str) -> list[float]:
    """Per problem, the test accuracy when ``learnt`` or at the end (``final``)."""
    return [problem[f"accuracy_{when}"] for problem in record["problems"]]


def match(record: Record) -> tuple[Any, ...]:
    """Equal for two jobs on the same problems: settings, and every image and label."""
    problems = tuple((p["fingerprint"], p["test_fingerprint"]) for p in record["problems"])
    return (*same_problems(record["job"]), problems)


def result_rows(records: Iterable[Record]) -> list[Row]:
    """One row per record, in the given order; Tr_last where the standalone run is among them."""
    everything = list(records)
    runs = standalone_runs(everything)
    return [
        result_row(record, yardstick(record["job"], runs.get(match(record), [])))
        for record in everything
    ]


def standalone_runs(records: Iterable[Record]) -> dict[tuple[Any, ...], list[tuple[Any, Record]]]:
    """The standalone runs among the records, each with its job, by the problems they are on."""
    found: dict[tuple[Any, ...], list[tuple[Any, Record]]] = {}
    for record in records:
        if record["status"] == "done" and is_standalone(record["job"]):
            found.setdefault(match(record), []).append((record["job"], record))
    return found


def result_row(record: Record, standalone: Record | None) -> Row:
    """The promised columns; under ``variant`` what else tells two jobs apart; the realisation's
    seed; ``imported`` images; under ``problems`` a hash of every image and label, which jobs to be
    paired must share; and derived figures."""
    row: Row = {name: record["job"].get(name) for name in COLUMNS}
    row["variant"] = {name: record["job"].get(name) for name in VARIANT}
    row |= {name: record.get(name, "") for name in ("status", "reason", "check")}
    row["data"] = told_images(record["job"])
    row["imported"] = record["job"].get("imported", {})
    row["realisation_seed"] = record["job"]["realisation_seed"]
    row["problems"] = hashlib.sha256(repr(match(record)[-1]).encode()).hexdigest()[:16]
    row |= {"solved": len(record["problems"]), **costs(record["problems"])}
    row["seconds"] = row[clock(record)]
    if record["status"] == "done":
        final, learnt = accuracies(record, "final"), accuracies(record, "learnt")
        alone = None if standalone is None else accuracies(standalone, "final")
        row |= {score.name: score.of(final, learnt, alone) for score in metrics.SCORES}
        row["backward"] = metrics.backward_transfer(final, learnt)
        row |= growth(record, standalone)
        if standalone is not None and alone is not None:
            row["A_gain"] = row["A"] - metrics.average_accuracy(alone)
            row |= budget_scores(record, standalone)
    return row


def costs(problems: Sequence[Mapping[str, Any]]) -> Row:
    """What the solved problems cost together."""
    used = [problem["resources"] for problem in problems]
    if not used:
        return {}
    totals = ("wall_s", "cpu_s", "updates", "train_flops", "paths_evaluated", "paths_trained")
    covered = [each["flop_coverage"] for each in used if each.get("flop_coverage") is not None]
    return {
        **{name: sum(each[name] for each in used) for name in totals},
        "flop_coverage": sum(covered) / len(covered) if covered else None,
        "peak_memory_mb": max(each["peak_memory_bytes"] for each in used) / MEGABYTE,
        "stored_mb": used[-1]["stored_bytes"] / MEGABYTE,
    }


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """The long form: one line per job."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(row[name]) for name in COLUMNS} for row in rows)
    return text.getvalue()


def csv_cell(value: Any) -> Any:
    """A value as a cell: numbers to six digits, texts harmless."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return csv_text(value) if isinstance(value, str) else value


def csv_text(text: str) -> str:
    """A record's text as a cell: printable, and no formula that a spreadsheet would compute."""
    plain = printable(text)
    return f"'{plain}" if plain.startswith(("=", "+", "-", "@")) else plain


def printable(text: str) -> str:
    """A text from a result file without what could steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
