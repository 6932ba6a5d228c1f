"""The evidence for judging: done jobs and ablations, as estimates with 95% intervals.

An interval is over realisations, paired if two algorithms are compared (bootstrap.py). A long
sequence that was run once has an interval over its problems instead, which says how sure the figure
is for this sequence, not for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bell_bench.records import Record
from bell_bench_leaderboard.bootstrap import LEVEL, MeanEstimate, Values, estimate
from bell_bench_leaderboard.rows import result_rows
from bell_bench_paper.claims.ablations import ABLATIONS, ablation_values
from bell_bench_paper.claims.claims import STANDALONE, Book, Runs
from bell_bench_paper.claims.long import over_problems

NEED_STANDALONE = ("Tr_last", "A_gain", "flops_growth")
"""The figures that need the standalone run."""
NEVER_RUN = " (takes long, so it is never run here; it counts if --out or --with has it)"
SHOWN = 4
"""The number of missing runs that are named; the others are only counted."""

Where = tuple[str, str, str, str]
"""A suite, a protocol, a sequence and an algorithm."""


@dataclass(frozen=True)
class JobEvidence:
    """A job that has ended: its row of figures and its record."""

    row: Mapping[str, Any]
    record: Record


@dataclass(frozen=True)
class Measured:
    """A measured figure, and which of its runs are missing."""

    estimate: MeanEstimate | None
    over: str = "realisations"
    lacking: str = ""


class Evidence:
    """The jobs and ablations of a book's parts, found by what a claim asks for."""

    def __init__(
        self,
        book: Book,
        records: Iterable[Record],
        ablations: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        self.book = book
        self.records = list(records)
        self.ablations = dict(ablations or {})
        self.rows = result_rows(self.records)
        self._done: dict[Where, dict[int, JobEvidence]] = {}
        self._status: dict[Where, dict[int, str]] = {}
        for row, record in zip(self.rows, self.records, strict=True):
            where = (row["suite"], row["protocol"], row["sequence"], row["algorithm"])
            self._status.setdefault(where, {})[row["realisation"]] = row["status"]
            if row["status"] == "done":
                self._done.setdefault(where, {})[row["realisation"]] = JobEvidence(row, record)

    def measure(
        self,
        suite: str,
        protocol: str,
        figure: str,
        name: str,
        on: Sequence[str],
        rival: str | None = None,
        *,
        level: float = LEVEL,
    ) -> Measured:
        """Return a figure of ``name``, minus that of ``rival`` if given, averaged over ``on``."""
        if suite in ABLATIONS:
            return self._of_ablation(suite, figure, name, rival, on, level)
        names = [name, *([rival] if rival else [])]
        asked = [*names, *([STANDALONE] if figure in NEED_STANDALONE else [])]
        lacking = self._lacking([(suite, protocol, place, each) for place in on for each in asked])
        if len(on) == 1:
            single = self._single(suite, protocol, asked, on[0])
            found = over_problems(figure, single, len(names), level=level) if single else None
            if found is not None:
                return Measured(found, "problems of one realisation", lacking)
        known = [self._values(suite, protocol, figure, names, place) for place in on]
        if not known or not all(known):
            return Measured(None, lacking=lacking or f"{figure} is not known")
        values = [np.array([*each.values()]) for each in known]
        return Measured(estimate(values, [[*each] for each in known], level=level), lacking=lacking)

    def _values(
        self, suite: str, protocol: str, figure: str, names: Sequence[str], place: str
    ) -> dict[tuple[int, int], float]:
        """Return the figure by realisation and its seed, for the realisations that all have done on
        the same problems: the first algorithm's value, minus the second's if there are two."""
        jobs = [self._done.get((suite, protocol, place, name), {}) for name in names]
        values = {}
        for realisation in sorted(set.intersection(*(set(each) for each in jobs))):
            rows = [each[realisation].row for each in jobs]
            found = [float(row[figure]) for row in rows if row.get(figure) is not None]
            if len(found) == len(rows) and len({row["problems"] for row in rows}) == 1:
                unit = (realisation, int(rows[0]["realisation_seed"]))
                values[unit] = found[0] - (found[1] if len(found) > 1 else 0.0)
        return values

    def _single(
        self, suite: str, protocol: str, names: Sequence[str], place: str
    ) -> list[Record] | None:
        """Return the records of a sequence that each of these algorithms has done once, on the same
        realisation; None if that is not so."""
        jobs = [self._done.get((suite, protocol, place, name), {}) for name in names]
        if any(len(each) != 1 or set(each) != set(jobs[0]) for each in jobs):
            return None
        return [job.record for each in jobs for job in each.values()]

    def _of_ablation(
        self,
        ablation: str,
        figure: str,
        name: str,
        rival: str | None,
        on: Sequence[str],
        level: float,
    ) -> Measured:
        rows = self.ablations.get(ablation)
        if rows is None:
            return Measured(None, lacking=f"runs missing: ablation {ablation}")
        columns: list[Values] = []  # all are of the same seeds or realisations
        for place in on or ("",):
            values = ablation_values(ablation, rows, figure, name, place)
            theirs = ablation_values(ablation, rows, figure, rival, place) if rival else None
            lengths = {len(each) for each in (values, theirs, *columns) if each is not None}
            if values is None or (rival and theirs is None) or len(lengths) > 1:
                where = f" at {place}" if place else ""
                return Measured(None, lacking=f"runs missing: {rival or name}{where}")
            columns.append(values if theirs is None else values - theirs)
        over = "seeds" if ablation == "density" else "realisations"
        units = [range(len(each)) for each in columns]
        return Measured(estimate(columns, units, level=level), over)

    def _lacking(self, asked: Sequence[Where]) -> str:
        """Return in words which jobs are not done; empty if all are done."""
        faults = []
        for where in dict.fromkeys(asked):
            *_, sequence, name = where
            runs = self._runs(where)
            planned = sorted({realisation for each in runs for realisation in each.realisations})
            if not planned:
                faults.append(f"{name} on {sequence} (not planned)")
                continue
            states = {r: self._status.get(where, {}).get(r, "") for r in planned}
            open_ = {r: status for r, status in states.items() if status != "done"}
            if len(open_) == len(planned) and not any(open_.values()):
                never = all(each.only_given and name in each.algorithms for each in runs)
                faults.append(f"{name} on {sequence}{NEVER_RUN * never}")
            elif open_:
                told = ", ".join(f"r{r}{': ' * bool(s)}{s}" for r, s in open_.items())
                faults.append(f"{name} on {sequence} ({told})")
        more = f" and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        return f"runs missing: {', '.join(faults[:SHOWN])}{more}" if faults else ""

    def _runs(self, where: Where) -> list[Runs]:
        """Return the runs that the job belongs to; standalone runs belong to all runs on their
        sequence."""
        suite, protocol, sequence, name = where
        return [
            runs
            for part in self.book.parts.values()
            for runs in part.runs
            if (runs.suite, runs.protocol) == (suite, protocol)
            and sequence in runs.sequences
            and (name in runs.algorithms or (name == STANDALONE and runs.algorithms))
        ]
