"""Reproducing a paper: run the jobs and ablations that its claims need, then judge each claim."""

from __future__ import annotations

import csv
import io
import json
import pathlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bell_bench.errors import unknown
from bell_bench.files import hash_json, read_json, write_json, write_whole
from bell_bench.results import Results
from bell_bench_leaderboard.yardstick import MADE

if TYPE_CHECKING:
    from bell_bench.harness.plan import Plan
    from bell_bench.harness.store import ResultStore
    from bell_bench_leaderboard.grids import Grid
    from bell_bench_leaderboard.reproduction import Book, Evidence, Judged

ALL = "all"
LOG = "reproduce.jsonl"
"""Beside the results: a line per command, with the time that it took."""
ABLATIONS = "ablations"
"""The folder of what ablations found, beside the results."""


@dataclass(frozen=True)
class Wish:
    """What of the claims' runs is asked for; empty means all that the file names."""

    scale: str | None = None
    data: str | None = None
    algorithms: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    realisations: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """Verdicts on a paper's claims, with what they rest on. Printed, it tells all of it."""

    evidence: Evidence
    parts: tuple[str, ...]
    claims: Sequence[Judged]
    results: Results
    planned: int
    """The jobs that the parts have, done or not."""
    seconds: Mapping[str, float]
    """What it took: this command, all commands on this folder, and the jobs by themselves."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per claim: verdict, published and measured value, interval, rule and reasons."""
        from bell_bench_leaderboard.reproduction.report import claim_row

        return [claim_row(each) for each in self.claims]

    @property
    def counts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        from bell_bench_leaderboard.reproduction.report import counts

        found: dict[str, int] = counts(self.claims)
        return found

    @property
    def facts(self) -> dict[str, str]:
        """What to know about it: the paper, the settings, the time it took."""
        from bell_bench.harness.progress import duration

        settings = dict.fromkeys(
            f"{row['suite']} {row['suite_version']} at {row['scale']} on {row['data']}"
            for row in self.evidence.rows
        )
        took = ", ".join(f"{name} {duration(spent)}" for name, spent in self.seconds.items())
        return {
            "paper": self.evidence.book.title,
            "parts": ", ".join(self.parts),
            "runs": "; ".join(settings) or "none",
            "jobs": f"{sum(row['status'] == 'done' for row in self.evidence.rows)} of "
            f"{self.planned} done",
            "time": took,
        }

    def tables(self) -> list[Grid]:
        """The paper's tables with ours, and what another protocol changes."""
        from bell_bench_leaderboard.reproduction.report import paper_grids, sensitivity_grid

        changes = (sensitivity_grid(self.evidence, part) for part in self.parts)
        return [*paper_grids(self.evidence, self.parts), *filter(None, changes)]

    def page(self, file: str | pathlib.Path) -> None:
        """Everything as one HTML file that needs nothing else."""
        from bell_bench_leaderboard.reproduction.page import make_claims_page

        text = make_claims_page(self.rows, self.tables(), self.facts)
        write_whole(pathlib.Path(file), text.encode())

    def publish(self, folder: str | pathlib.Path) -> list[pathlib.Path]:
        """Write jobs, ablations, verdicts and the page into a folder; gives the files."""
        from bell_bench_leaderboard.reproduction.report import to_csv, to_markdown

        place = pathlib.Path(folder)
        content = {
            "claims.csv": to_csv(self.claims),
            "claims.json": json.dumps(
                {**self.facts, "seconds": dict(self.seconds), "verdicts": self.counts,
                 "claims": self.rows}, indent=1, ensure_ascii=False) + "\n",
            "claims.md": to_markdown(self.claims, self.tables(), self.facts),
            **{f"{name}.csv": _as_csv(rows) for name, rows in self.evidence.ablations.items()},
        }  # fmt: skip
        for name, text in content.items():
            write_whole(place / name, text.encode())
        self.results.to_csv(place / "jobs.csv")
        self.page(place / "page.html")
        return [place / name for name in (*content, "jobs.csv", "page.html")]

    def __repr__(self) -> str:
        from bell_bench_leaderboard.grids import to_text

        told = [f"{verdict}: {count}" for verdict, count in self.counts.items()]
        facts = [f"{name}: {text}" for name, text in self.facts.items()]
        return "\n\n".join(
            [*map(to_text, self.tables()), self._verdicts(), "\n".join(facts + told)]
        )

    def _verdicts(self) -> str:
        """A line per claim and what decided it, for the terminal."""
        from bell_bench.text import table
        from bell_bench_leaderboard.reproduction.report import measured, plain, reason

        lines = [
            (each.verdict, each.claim.id, plain(each.published), measured(each.decisive),
             f"{each.claim.says}. {each.claim.source}. Rule: {each.rule}; {reason(each)}")
            for each in self.claims
        ]  # fmt: skip
        return table(lines, ("verdict", "claim", "published", "measured", "the paper says"))


def reproduce(
    part: str,
    wish: Wish,
    *,
    out: pathlib.Path,
    given: Sequence[pathlib.Path],
    workers: int | None,
    run: bool,
    file: pathlib.Path | None,
    quiet: bool,
) -> Reproduction:
    """Run what a part needs and is not done yet, unless told not to, and judge its claims.

    What submissions or folders of results ``given`` have is counted, and not run.
    """
    from bell_bench.harness.store import ResultStore
    from bell_bench_leaderboard import read_records
    from bell_bench_leaderboard.reproduction import Evidence, judge, read_book

    book = narrowed(read_book(file), wish)
    if part != ALL and part not in book.parts:
        raise unknown("part", part, [*book.parts, ALL])
    parts = tuple(book.parts) if part == ALL else (part,)
    store = ResultStore(out)
    plan = merged(_plans(book, parts, wish))
    known = _known(read_records(given), plan)
    left = replace(plan, jobs=tuple(job for job in plan.jobs if job.name not in known))
    waiting = sum(not store.finished(job) for job in left.jobs)
    asked = [name for each in parts for name in book.parts[each].ablations]
    with _clocked(out, {"part": part, "jobs": waiting, **vars(wish)}, write=run) as clock:
        if run:
            _run(left, store, workers, quiet)
        ablations = {name: found for name in asked
                     if (found := _ablation(name, wish, out, run, quiet)) is not None}  # fmt: skip
        folders = (store.folder_of(job).path for job in left.jobs)
        records = read_records(folder for folder in folders if folder.is_dir())
    records += known.values()
    evidence = Evidence(book, records, {name: rows for name, (rows, _) in ablations.items()})
    took = {**clock, "jobs and ablations by themselves": spent_seconds(records)
            + sum(spent for _, spent in ablations.values())}  # fmt: skip
    return Reproduction(evidence, parts, judge(evidence, parts), Results(records, out),
                        len(plan.jobs), took)  # fmt: skip


def _known(records: Iterable[Mapping[str, Any]], plan: Plan) -> dict[str, Mapping[str, Any]]:
    """The records that are done of the plan's jobs, by the job's name: the same algorithm on the
    same problems with the same seed and options, whatever machine and version ran it."""

    def identity(job: Mapping[str, Any]) -> str:
        same = {name: value for name, value in job.items() if name not in MADE}
        return hash_json({**same, "provider": str(job["provider"]).partition(" ")[0]})

    done = {identity(each["job"]): each for each in records if each["status"] == "done"}
    found = {job.name: done.get(identity(job.to_json())) for job in plan.jobs}
    return {name: record for name, record in found.items() if record is not None}


def narrowed(book: Book, wish: Wish) -> Book:
    """The book with only the runs that are asked for, and the claims that these may decide."""
    runs = [each for part in book.parts.values() for each in part.runs]
    for kind, asked, known in (
        ("algorithm of these claims", wish.algorithms, {n for r in runs for n in r.algorithms}),
        ("sequence of these claims", wish.sequences, {n for r in runs for n in r.sequences}),
    ):
        for name in asked:
            if name not in known:
                raise unknown(kind, name, known)

    def kept(names: Iterable[str], asked: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if not asked or name in asked)

    parts = {
        name: replace(part, runs=tuple(
            replace(each, algorithms=kept(each.algorithms, wish.algorithms),
                    sequences=kept(each.sequences, wish.sequences),
                    realisations=wish.realisations or each.realisations)
            for each in part.runs))
        for name, part in book.parts.items()
    }  # fmt: skip
    claims = tuple(
        claim
        for claim in book.claims
        if not claim.protocol  # of an ablation
        or (kept((*claim.of, *claim.against), wish.algorithms) == (*claim.of, *claim.against)
            and kept(claim.on, wish.sequences) == claim.on)
    )  # fmt: skip
    return replace(book, parts=parts, claims=claims)


def _plans(book: Book, parts: Iterable[str], wish: Wish) -> Iterator[Plan]:
    from bell_bench.harness.plan import Request, make_plan

    for part in parts:
        for runs in book.parts[part].runs:
            if runs.algorithms and runs.sequences:
                yield make_plan(
                    Request(
                        algorithms=runs.algorithms,
                        suite=runs.suite,
                        sequences=runs.sequences,
                        scale=wish.scale,
                        data=wish.data,
                        protocol=runs.protocol,
                        realisations=runs.realisations,
                    )
                )


def merged(plans: Iterable[Plan]) -> Plan:
    """One plan for all cores; long sequences first, so that none runs alone at the end."""
    from bell_bench.harness.plan import Plan
    from bell_bench.plugins import registry

    every = list(plans)
    jobs = {job.name: job for plan in every for job in plan.jobs}
    asked = {job.name for plan in every for job in plan.asked}
    unsupported = {name: why for plan in every for name, why in plan.unsupported.items()}

    def short(name: str) -> bool:
        job = jobs[name]
        return registry().suite(job.suite).sequences[job.sequence].short

    order = sorted(jobs, key=short)
    return Plan(tuple(jobs[name] for name in order), frozenset(jobs.keys() - asked), unsupported)


def _run(plan: Plan, store: ResultStore, workers: int | None, quiet: bool) -> None:
    from bell_bench.harness.executor import Limits, LocalExecutor
    from bell_bench.harness.plan import check_plan
    from bell_bench.harness.run import run_plan

    if plan.jobs:
        check_plan(plan, store)
        run_plan(plan, LocalExecutor(store, Limits(), workers), quiet=quiet)


def spent_seconds(records: Iterable[Mapping[str, Any]]) -> float:
    """What the jobs took, computed or looked up: their charged seconds may be many times that."""
    return sum(
        float(problem["resources"].get("spent_seconds", problem["resources"]["wall_s"]))
        for record in records
        for problem in record["problems"]
    )


@contextmanager
def _clocked(
    out: pathlib.Path, command: Mapping[str, Any], *, write: bool
) -> Iterator[dict[str, float]]:
    """Seconds of this command and of all before it, which a log in ``out`` remembers."""
    started = time.monotonic()
    clock: dict[str, float] = {}
    try:
        yield clock
    finally:
        clock["this command"] = time.monotonic() - started
        log = out / LOG
        before = log.read_text("utf-8").splitlines() if log.is_file() else []
        past = sum(float(json.loads(line)["seconds"]) for line in before)
        if past:
            clock["all commands so far"] = past + clock["this command"] * write
        if write:
            entry = {"seconds": round(clock["this command"], 1), **command}
            write_whole(log, "".join(f"{line}\n" for line in [*before, json.dumps(entry)]).encode())


def _ablation(
    name: str, wish: Wish, out: pathlib.Path, run: bool, quiet: bool
) -> tuple[list[dict[str, Any]], float] | None:
    """An ablation's rows and the seconds it took, from ``out`` or run now; None if it is not to."""
    settings = _ablation_settings(name, wish)
    file = out / ABLATIONS / f"{name}-{hash_json(settings)[:8]}.csv"
    told = file.with_suffix(".json")
    if not told.is_file():
        if not run:
            return None
        started = time.monotonic()
        rows = _run_ablation(name, settings, out, quiet)
        write_whole(file, _as_csv(rows).encode())
        write_json(told, {**settings, "seconds": round(time.monotonic() - started, 1)})
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream)), float(read_json(told)["seconds"])


def _ablation_settings(name: str, wish: Wish) -> dict[str, Any]:
    """All that determines what an ablation finds."""
    from bell_bench.harness.environment import version
    from bell_bench.plugins import registry

    suite = registry().suite("bell")
    settings: dict[str, Any] = {
        "ablation": name,
        "suite_version": suite.version,
        "scale": wish.scale or next(iter(suite.scales)),
        "data": wish.data or next(iter(suite.sources)),
        "software": {each: version(each) for each in ("bell-bench", "torch")},
    }
    if name == "density":
        return {**settings, "seeds": 5}
    return {**settings, "seeds": 10, "realisations": 5, "protocol": "paper"}


def _run_ablation(
    name: str, settings: Mapping[str, Any], out: pathlib.Path, quiet: bool
) -> list[dict[str, Any]]:
    """Of an algorithm, so loaded by name, as algorithms are."""
    from bell_bench.harness.progress import steps
    from bell_bench.plugins import load_object

    run = load_object(f"bell_bench_algorithms.picle.ablations.{name.replace('-', '_')}:run")
    named = ("scale", "data", "seeds", "realisations", "protocol")
    asked = {key: settings[key] for key in named if key in settings}
    with steps(quiet) as tell:
        rows = run(**asked, **({} if name == "density" else {"out": out}), tell=tell)
    found: list[dict[str, Any]] = rows.to_dict("records")
    return found


def _as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
