"""Boards: the rows that may be compared with each other, as cells of sequence × algorithm."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.records import LONG
from bell_bench_leaderboard.rows import printable

SETTINGS = ("suite", "suite_version", "scale", "data", "protocol")
"""Rows are compared only if these agree."""
MISSING = "missing"
"""The status of a job that this algorithm does not have and another algorithm of the board has."""

Row = Mapping[str, Any]
Place = tuple[int, int]
"""A realisation and a seed."""


@dataclass(frozen=True)
class Cell:
    """The jobs of one algorithm on one sequence."""

    jobs: Mapping[Place, Row]
    expected: frozenset[Place]
    """All realisations and seeds that any algorithm of the board has on this sequence."""

    @cached_property
    def faults(self) -> Counter[str]:
        """How many jobs are not done, by status."""
        found = Counter(row["status"] for row in self.jobs.values() if row["status"] != "done")
        lacking = len(self.expected - self.jobs.keys())
        return found + Counter({MISSING: lacking})

    @property
    def problems(self) -> dict[Place, str]:
        """For each job a hash of its images and labels: two jobs can be paired only if these are
        equal."""
        return {place: row["problems"] for place, row in self.jobs.items()}

    @property
    def done(self) -> int:
        """How many jobs are done."""
        return sum(row["status"] == "done" for row in self.jobs.values())

    @property
    def status(self) -> str:
        """What is wrong, in a few words; empty if nothing is wrong."""
        return ", ".join(
            status if count == len(self.expected) else f"{status} {count} of {len(self.expected)}"
            for status, count in sorted(self.faults.items())
        )

    def values(self, figure: str) -> NDArray[np.float64] | None:
        """Return the figure's mean over seeds for each realisation; None if a job lacks the
        figure."""
        if self.faults:
            return None
        by_realisation: dict[int, list[float]] = {}
        for (realisation, _), row in self.jobs.items():
            if row.get(figure) is None:
                return None
            by_realisation.setdefault(realisation, []).append(row[figure])
        found = sorted(by_realisation.items())
        return np.array([sum(each) / len(each) for _, each in found], dtype=float)


@dataclass(frozen=True)
class Board:
    """Rows of one suite, version, scale, data source and protocol."""

    settings: Mapping[str, str]
    rows: tuple[Row, ...]
    names: tuple[str, ...]
    """The name of each row's algorithm, with what distinguishes it from other variants of it."""

    @property
    def title(self) -> str:
        """The settings in one line, safe to print."""
        version = self.settings["suite_version"]
        rest = "  ".join(f"{name} {self.settings[name]}" for name in ("scale", "data", "protocol"))
        return printable(f"suite {self.settings['suite']} (version {version})  {rest}")

    @cached_property
    def sequences(self) -> list[str]:
        """The sequences, in order of appearance."""
        return list(dict.fromkeys(row["sequence"] for row in self.rows))

    @cached_property
    def averaged(self) -> list[str]:
        """The sequences that averages and ranks are taken over: the short ones, or all if none is
        short.

        Only a job that is done shows how long a sequence is. A long sequence that nobody has
        completed compares nobody, and must not make all averages incomplete.
        """
        length = {row["sequence"]: row["solved"] for row in self.rows if row["status"] == "done"}
        return [name for name in self.sequences if length.get(name, LONG + 1) <= LONG] or (
            self.sequences
        )

    @cached_property
    def algorithms(self) -> list[str]:
        """The algorithms: the standalone one first, the others in order of appearance."""
        first = [name for name, row in self if row["standalone"]]
        return list(dict.fromkeys([*first, *self.names]))

    @cached_property
    def standalone(self) -> str | None:
        """The name of the standalone algorithm; None if the board does not have it."""
        return next((name for name, row in self if row["standalone"]), None)

    @cached_property
    def cells(self) -> dict[tuple[str, str], Cell]:
        """The cell of every sequence and algorithm."""
        jobs: dict[tuple[str, str], dict[Place, Row]] = {}
        expected: dict[str, set[Place]] = {}
        for name, row in self:
            place = (row["realisation"], row["seed"])
            jobs.setdefault((row["sequence"], name), {}).setdefault(place, row)
            expected.setdefault(row["sequence"], set()).add(place)
        return {
            (sequence, name): Cell(jobs.get((sequence, name), {}), frozenset(expected[sequence]))
            for sequence in self.sequences
            for name in self.algorithms
        }

    @cached_property
    def draws(self) -> dict[str, list[tuple[int, int]]]:
        """For each sequence its realisations with their seeds. Sequences that share a realisation's
        seed share its problems."""
        found: dict[str, dict[int, int]] = {}
        for row in self.rows:
            seeds = found.setdefault(row["sequence"], {})
            seeds.setdefault(row["realisation"], row["realisation_seed"])
        return {sequence: sorted(seeds.items()) for sequence, seeds in found.items()}

    def values(self, figure: str, name: str, sequence: str) -> NDArray[np.float64] | None:
        """Return the values of a cell, computed only once."""
        place = (figure, name, sequence)
        if place not in self._known:
            self._known[place] = self.cells[sequence, name].values(figure)
        return self._known[place]

    @cached_property
    def _known(self) -> dict[tuple[str, str, str], NDArray[np.float64] | None]:
        return {}

    def __iter__(self) -> Iterator[tuple[str, Row]]:
        return zip(self.names, self.rows, strict=True)


def boards(rows: Iterable[Row]) -> list[Board]:
    """Group the rows by settings, and return one board for each group.

    Rows on imported images are also kept apart if one domain's name stands for different images, or
    if the same realisation was run with more imported domains and with fewer.
    """
    parts: dict[tuple[tuple[str, ...], int], tuple[dict[Any, Any], list[Row]]] = {}
    for row in rows:
        settings, imported = tuple(row[name] for name in SETTINGS), row.get("imported", {})
        images = {**imported, (row["sequence"], row["realisation_seed"]): imported}
        for number in itertools.count(1):
            known, part = parts.setdefault((settings, number), ({}, []))
            if all(known.get(name, images[name]) == images[name] for name in images):
                break
        known |= images
        part.append(row)
    return [
        Board(_numbered(*place), tuple(part), tuple(labels(part)))
        for place, (_, part) in parts.items()
    ]


def _numbered(settings: tuple[str, ...], number: int) -> dict[str, str]:
    """Return the settings by name. A board that differs from earlier ones only in imported images
    gets a number."""
    found = dict(zip(SETTINGS, settings, strict=True))
    return found if number == 1 else {**found, "data": f"{found['data']} {number}"}


def labels(rows: list[Row]) -> list[str]:
    """Return each row's algorithm; where it has several variants, followed by the settings that
    differ between them."""
    variants: dict[str, dict[str, Mapping[str, Any]]] = {}
    keys = [json.dumps(row["variant"], sort_keys=True) for row in rows]
    for row, key in zip(rows, keys, strict=True):
        variants.setdefault(row["algorithm"], {}).setdefault(key, row["variant"])
    known = {
        (algorithm, key): printable(_label(algorithm, variant, list(found.values())))
        for algorithm, found in variants.items()
        for key, variant in found.items()
    }
    return [known[row["algorithm"], key] for row, key in zip(rows, keys, strict=True)]


def _label(algorithm: str, variant: Row, variants: list[Mapping[str, Any]]) -> str:
    flat = [{**other, **other["options"]} for other in variants]
    own = {**variant, **variant["options"]}
    unlike = [
        f"{name} not recorded" if name == "software" and not value else f"{name}={value}"
        for name, value in own.items()
        if name != "options" and any(other.get(name) != value for other in flat)
    ]
    return f"{algorithm} [{', '.join(unlike)}]" if unlike else str(algorithm)
