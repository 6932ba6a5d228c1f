"""Records made by hand, and folders of runs with predictions that bear them out."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bell_bench import records as types
from bell_bench.files import sha256, write_arrays
from bell_bench_leaderboard import rows

POINTS = 200
RESOURCES = {
    "wall_s": 2.0, "cpu_s": 1.5, "updates": 100, "train_flops": 1e9, "paths_evaluated": 3,
    "paths_trained": 1, "peak_memory_bytes": 3 * 1024**2, "stored_bytes": 1024**2,
    "flop_coverage": 0.4,
}  # fmt: skip


def record(
    algorithm: str = "picle",
    learnt: Sequence[float] = (0.9, 0.8),
    final: Sequence[float] | None = None,
    status: str = "done",
    data_hash: str = "x",
    resources: dict[str, Any] | None = None,
    **job: Any,
) -> dict[str, Any]:
    """A record of one job; ``final`` is as ``learnt`` unless given."""
    settings = {
        "algorithm": algorithm, "suite": "bell", "suite_version": "1", "sequence": "S_pl",
        "realisation": 0, "realisation_seed": 30, "seed": 0, "scale": "quick", "data": "glyphs",
        "protocol": "paper", "provider": "bell-bench 0.1.0", "options": {}, "device": "cpu",
        "threads": 1, "software": "bell-bench 0.1.0", **job,
    }  # fmt: skip
    problems = [
        {
            "index": i,
            "name": f"problem {i}",
            "classes": 2,
            "path": ["1.1", "new"],
            "accuracy_learnt": a,
            "accuracy_final": b,
            "resources": {**RESOURCES, **(resources or {})},
            "fingerprint": f"{data_hash}{i}",
            "test_fingerprint": f"{data_hash}t{i}",
        }
        for i, (a, b) in enumerate(zip(learnt, final or learnt, strict=True))
    ]
    return {"schema": 1, "status": status, "reason": "", "job": settings, "problems": problems,
            "matrix": [], "environment": {"python": "3.11"}}  # fmt: skip


def read(content: Mapping[str, Any] | types.Record) -> types.ReadRecord:
    """A record made by hand, as it is when it was read."""
    return types.ReadRecord.from_json(content) if isinstance(content, Mapping) else content


def result_rows(contents: Iterable[Mapping[str, Any] | types.Record]) -> list[rows.Row]:
    """The rows of records made by hand."""
    return rows.result_rows(map(read, contents))


def series(algorithm: str, scores: Sequence[float], **job: Any) -> list[dict[str, Any]]:
    """One job per score on realisations 0, 1, …, each of one problem."""
    return [
        record(algorithm, (score,), realisation=i, realisation_seed=30 + i, **job)
        for i, score in enumerate(scores)
    ]


def predictions(content: dict[str, Any]) -> dict[str, np.ndarray]:
    """As right as the record says."""
    arrays = {}
    for i, problem in enumerate(content["problems"]):
        labels = np.arange(POINTS, dtype=np.uint8) % 2
        arrays[f"labels_{i}"] = labels
        for when in ("learnt", "final"):
            wrong = np.arange(POINTS) >= round(problem[f"accuracy_{when}"] * POINTS)
            arrays[f"{when}_{i}"] = labels ^ wrong.astype(np.uint8)
    return arrays


def write_run(folder: pathlib.Path, content: dict[str, Any]) -> pathlib.Path:
    """The record's folder, with predictions that are right as often as it says."""
    folder.mkdir(parents=True)
    write_arrays(folder / "predictions.npz", predictions(content))
    content["predictions_sha256"] = sha256((folder / "predictions.npz").read_bytes())
    (folder / "record.json").write_text(json.dumps(content))
    return folder
