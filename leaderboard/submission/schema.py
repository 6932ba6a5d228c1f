"""What a manifest and a record must look like."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from bell_bench.files import RECORD_SCHEMA
from bell_bench.harness.job import Job
from bell_bench_leaderboard.submission.rules import (
    Rule,
    anything,
    by_name,
    each,
    fields,
    number,
    one_of,
    optional,
    text,
)

FORMAT = "bell-bench submission"
SCHEMA = 1
STATUSES = ("done", "unsupported", "failed", "timeout", "out-of-memory")
"""How a job may have ended; one that was interrupted has not ended."""
MOST_PROBLEMS = 1000
FIGURES = ("A", "F", "backward_transfer", "Tr_last")

_BIG = 2.0**63
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.+-]*"
_ALGORITHM = rf"([a-z][a-z0-9-]*:)?{_NAME}"
"""A name, perhaps with the prefix of a family as in avalanche:LwF; never a file's."""
_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"
_HASH = text(64, r"[0-9a-f]{64}")
_SHARE = number(0, 1)
_COUNT = number(0, _BIG, int)
_FIGURE = number(-100, 100)


def _scalar(value: Any, where: str) -> Any:
    if isinstance(value, dict | list):
        yield f"{where} is a {type(value).__name__}, not a single value"


_JOB_RULES: dict[str, Rule] = {
    "algorithm": text(100, _ALGORITHM),
    "load": text(300, _LINE),
    "provider": text(300, _LINE),
    "suite": text(100, _NAME),
    "suite_version": text(100, _LINE),
    "sequence": text(100, _LINE),
    "realisation": _COUNT,
    "realisation_seed": _COUNT,
    "seed": _COUNT,
    "scale": text(100, _LINE),
    "data": text(100, _LINE),
    "protocol": text(100, _LINE),
    "options": by_name(_scalar, _NAME, 200),
    "device": text(40, r"[a-z]+(:\d+)?"),
    "threads": number(1, 1024, int),
    "software": text(300, _LINE),
    "imported": by_name(text(16, r"[0-9a-f]{16}"), _NAME, 200),
}
_NEEDED = {
    field.name
    for field in dataclasses.fields(Job)
    if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
}
JOB = fields(
    {name: rule for name, rule in _JOB_RULES.items() if name in _NEEDED},
    {name: rule for name, rule in _JOB_RULES.items() if name not in _NEEDED},
)
RESOURCES = fields(
    {
        name: number(0, 1e30)
        for name in (
            "wall_s", "cpu_s", "updates", "train_flops", "inference_flops", "paths_evaluated",
            "paths_trained", "peak_memory_bytes", "stored_bytes",
        )
    },
    {"flop_coverage": optional(_SHARE)},
    others=True,
)  # fmt: skip
PROBLEM = fields(
    {
        "index": number(0, MOST_PROBLEMS, int),
        "name": text(300, _LINE),
        "classes": number(1, 1e6, int),
        "fingerprint": _HASH,
        "test_fingerprint": _HASH,
        "path": optional(each(text(100, _LINE), 1000)),
        "resources": RESOURCES,
        "notes": each(anything, 100_000),
    },
    {"accuracy_learnt": _SHARE, "accuracy_final": _SHARE},
    others=True,
)
RECORD = fields(
    {
        "schema": one_of(RECORD_SCHEMA),
        "status": one_of(*STATUSES),
        "reason": text(5000),
        "job": JOB,
        "problems": each(PROBLEM, MOST_PROBLEMS),
        "matrix": each(each(_SHARE, MOST_PROBLEMS), MOST_PROBLEMS),
        "environment": fields(
            {"packages": by_name(optional(text(100, _LINE)), r"[\w.-]+", 100)}, others=True
        ),
    },
    {
        "predictions_sha256": _HASH,
        "settings": by_name(anything, r"\w+", 100),
        "metrics": by_name(_FIGURE, r"\w+", 100),
    },
    others=True,
)
MANIFEST = fields(
    {
        "format": one_of(FORMAT),
        "schema": one_of(SCHEMA),
        "bell_bench": text(100, _LINE),
        "name": text(200, _LINE),
        "contact": text(200, _LINE),
        "files": by_name(_HASH, r"[A-Za-z0-9_.+/-]+", 20_000),
        "jobs": by_name(
            fields(
                {"status": one_of(*STATUSES)},
                {name: optional(_FIGURE) for name in FIGURES},
            ),
            r"[A-Za-z0-9_.+-]+",
            10_000,
        ),
    }
)


def complaints(rule: Rule, value: Any, name: str) -> list[str]:
    """All that is wrong with a value; of a flood, a screenful and the number."""
    found = rule(value, name)
    told = list(itertools.islice(found, 30))
    rest = sum(1 for _ in found)
    return [*told, f"… and {rest:,} more of the kind"] if rest else told
