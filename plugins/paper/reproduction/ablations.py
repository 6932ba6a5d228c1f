"""The ablations that claims are about: each is run once, then read from its files."""

from __future__ import annotations

import csv
import io
import math
import pathlib
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bell_bench import cpu_determinism
from bell_bench.data.sources import available, foreign_images
from bell_bench.files import (
    LARGEST_JSON,
    hash_json,
    read_json,
    read_whole,
    sha256,
    write_json,
    write_whole,
)
from bell_bench.harness.progress import steps
from bell_bench.import_strings import clip, load_object
from bell_bench.plugins import installed_version, registry
from bell_bench.suites.bell.domains import DOMAINS
from bell_bench_paper.reproduction.planning import Scope

FOLDER = "ablations"
"""The folder beside the results that holds the ablations' files."""
_NUMBERS: Mapping[str, Mapping[str, type]] = {
    "density": {"N": int, "seed": int, "average_position": float},
    "nt-search": {"realisation": int, "seed": int, "paths": int, "best_accuracy": float},
}
"""The columns that claims are judged by."""


@dataclass(frozen=True)
class StoredAblation:
    """The results of an ablation: its rows as CSV, and a note with its settings, the seconds that
    it took and the hash of the rows."""

    name: str
    """The name of its two files, without their endings."""
    text: bytes
    note: Mapping[str, Any]

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.text.decode(), newline="")))

    @property
    def seconds(self) -> float:
        return float(self.note["seconds"])

    def write(self, folder: pathlib.Path) -> list[pathlib.Path]:
        """Write both files into a folder where ``--with`` finds them, the note last; return the
        files."""
        rows, note = (folder / FOLDER / f"{self.name}.{ending}" for ending in ("csv", "json"))
        write_whole(rows, self.text)
        write_json(note, dict(self.note))
        return [rows, note]


def ablation(
    name: str,
    scope: Scope,
    out: pathlib.Path,
    given: Iterable[pathlib.Path],
    run: bool,
    quiet: bool,
) -> StoredAblation | None:
    """Return the results of an ablation: from ``out``, else from folders ``given``, whichever
    machine ran it, else by running it now; None if it may not be run."""
    settings = _ablation_settings(name, scope)
    note = out / FOLDER / f"{name}-{hash_json(settings)[:8]}.json"
    if found := _read(note, settings):
        return found
    anywhere = {key: value for key, value in settings.items() if key != "software"}
    for file in sorted(file for folder in given for file in folder.glob(f"{FOLDER}/{name}-*.json")):
        if found := _read(file, anywhere):
            return found
    if not run:
        return None
    started = time.monotonic()
    rows = as_csv(_run_ablation(name, settings, out, quiet)).encode()
    seconds = round(time.monotonic() - started, 1)
    found = StoredAblation(
        note.stem, rows, {**settings, "seconds": seconds, "sha256": sha256(rows)}
    )
    found.write(out)
    return found


def _read(note: pathlib.Path, settings: Mapping[str, Any]) -> StoredAblation | None:
    """Return the results of an ablation with these settings. Return None if the note is of other
    settings; also None, with a warning, if a file is damaged."""
    try:
        content = read_json(note)
        if any(content[key] != value for key, value in settings.items()):
            return None
        text = read_whole(note.with_suffix(".csv"), LARGEST_JSON)
        if sha256(text) != content["sha256"]:
            raise ValueError("its rows are not those that were written")
        found = StoredAblation(note.stem, text, content)
        rows = found.rows
        for column, kind in _NUMBERS[content["ablation"]].items():
            if not all(math.isfinite(kind(row[column])) for row in rows):
                raise ValueError(f"{column} is not always a number")
        if not 0 <= found.seconds < math.inf:
            raise ValueError(f"it took {found.seconds} seconds")
        return found
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        warnings.warn(f"{note} is left out: {clip(repr(error))}", stacklevel=2)
        return None


def _ablation_settings(name: str, scope: Scope) -> dict[str, Any]:
    """Return all settings that determine the results of an ablation."""
    suite = registry().suite("bell")
    settings: dict[str, Any] = {
        "ablation": name,
        "suite_version": suite.version,
        "scale": scope.scale or next(iter(suite.scales)),
        "data": scope.data or next(iter(suite.sources)),
        "software": {each: installed_version(each) for each in ("bell-bench", "torch")},
    }
    data = settings["data"]
    if imported := foreign_images(available(DOMAINS, data), data):
        settings["imported"] = imported
    if name == "density":
        return {**settings, "seeds": 5}
    return {**settings, "seeds": 10, "realisations": 5, "protocol": "paper"}


def _run_ablation(
    name: str, settings: Mapping[str, Any], out: pathlib.Path, quiet: bool
) -> list[dict[str, Any]]:
    cpu_determinism.hold()
    run = load_object(f"bell_bench_paper.ablations.{name.replace('-', '_')}:run")
    named = ("scale", "data", "seeds", "realisations", "protocol")
    asked = {key: settings[key] for key in named if key in settings}
    with steps(quiet) as tell:
        rows = run(**asked, **({} if name == "density" else {"out": out}), tell=tell)
    found: list[dict[str, Any]] = rows.to_dict("records")
    return found


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV; all rows must have the columns of the first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
