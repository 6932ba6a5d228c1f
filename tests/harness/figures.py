"""What of a run must not depend on where and how it ran."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from bell_bench.files import read_arrays

COUNTS = ("paths_evaluated", "paths_trained", "updates", "train_flops", "inference_flops",
          "stored_bytes", "parameters")  # fmt: skip
KEPT = ("name", "path", "fingerprint", "notes", "accuracy_final", "accuracy_learnt")


def asked(*algorithms: str) -> list[str]:
    """On the command line."""
    return [part for name in algorithms for part in ("--algo", name)]


def figures(out: pathlib.Path, counts: tuple[str, ...] = COUNTS) -> dict[str, Any]:
    """By algorithm: accuracies, predictions, paths tried and chosen, and what was charged."""
    found = {}
    for file in sorted(out.glob("*/record.json")):
        record = json.loads(file.read_text())
        predictions = read_arrays(file.with_name("predictions.npz"))
        found[record["job"]["algorithm"]] = {
            **{name: record[name] for name in ("status", "matrix", "metrics")},
            "problems": [_told(problem, counts) for problem in record["problems"]],
            "predictions": {name: array.tolist() for name, array in predictions.items()},
        }
    return found


def _told(problem: dict[str, Any], counts: tuple[str, ...]) -> dict[str, Any]:
    used = {name: problem["resources"][name] for name in counts}
    return {**{name: problem[name] for name in KEPT}, **used}
