"""The ablations that claims speak of: run once, then read."""

from __future__ import annotations

import csv
import io
import pathlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bell_bench.files import hash_json, read_json, write_json, write_whole
from bell_bench.reproduction.planning import Scope

FOLDER = "ablations"
"""Of what ablations found, beside the results."""


def ablation(
    name: str, scope: Scope, out: pathlib.Path, run: bool, quiet: bool
) -> tuple[list[dict[str, Any]], float] | None:
    """An ablation's rows and the seconds it took, from ``out`` or run now; None if it is not to."""
    settings = _ablation_settings(name, scope)
    file = out / FOLDER / f"{name}-{hash_json(settings)[:8]}.csv"
    told = file.with_suffix(".json")
    if not told.is_file():
        if not run:
            return None
        started = time.monotonic()
        rows = _run_ablation(name, settings, out, quiet)
        write_whole(file, as_csv(rows).encode())
        write_json(told, {**settings, "seconds": round(time.monotonic() - started, 1)})
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream)), float(read_json(told)["seconds"])


def _ablation_settings(name: str, scope: Scope) -> dict[str, Any]:
    """All that determines what an ablation finds."""
    from bell_bench.harness.environment import version
    from bell_bench.plugins import registry

    suite = registry().suite("bell")
    settings: dict[str, Any] = {
        "ablation": name,
        "suite_version": suite.version,
        "scale": scope.scale or next(iter(suite.scales)),
        "data": scope.data or next(iter(suite.sources)),
        "software": {each: version(each) for each in ("bell-bench", "torch")},
    }
    if name == "density":
        return {**settings, "seeds": 5}
    return {**settings, "seeds": 10, "realisations": 5, "protocol": "paper"}


def _run_ablation(
    name: str, settings: Mapping[str, Any], out: pathlib.Path, quiet: bool
) -> list[dict[str, Any]]:
    from bell_bench.ablations import load
    from bell_bench.harness.progress import steps

    run = load(f"{name.replace('-', '_')}:run")
    named = ("scale", "data", "seeds", "realisations", "protocol")
    asked = {key: settings[key] for key in named if key in settings}
    with steps(quiet) as tell:
        rows = run(**asked, **({} if name == "density" else {"out": out}), tell=tell)
    found: list[dict[str, Any]] = rows.to_dict("records")
    return found


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows that all have the first one's columns."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
