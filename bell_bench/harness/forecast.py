"""A plan's forecast as people read it: by algorithm, on some machines, and how far it was off."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bell_bench.harness.calibration import Machine, calibrate
from bell_bench.harness.counted import Amount, Sizes, networks
from bell_bench.harness.environment import processor
from bell_bench.harness.estimate import JobEstimate, estimate, makespan
from bell_bench.harness.plan import Plan
from bell_bench.harness.progress import Tell
from bell_bench.harness.ranges import check_number
from bell_bench.records import ResultStore
from bell_bench.text import paragraph, table
from bell_bench.units import format_size

UNTIMED = (
    "the records are of another processor, and which networks this one would have to be timed with "
    "is not known without the problems"
)


@dataclass(frozen=True)
class Comparison:
    """Count over measurement, of the plan's jobs that have run and can be counted; None where
    nothing was measured or timed."""

    jobs: int
    updates: float | None
    flops: float | None
    seconds: float | None
    """Of those that ran on this kind of processor, if this machine was timed."""


@dataclass(frozen=True, repr=False)
class Forecast:
    """What a plan takes. Seconds are those of one core, if not said otherwise. Printed, it is what
    ``bell-bench plan`` prints."""

    estimates: list[JobEstimate]
    machine: Machine | None
    """How fast this machine trains; None if nothing depends on it."""
    cores: int
    machines: int
    compared: Comparison | None

    @property
    def unknown(self) -> list[str]:
        """The algorithms of which some job is neither recorded nor counted."""
        return list(dict.fromkeys(e.job.algorithm for e in self.estimates if e.amount is None))

    @property
    def reasons(self) -> dict[str, list[str]]:
        """Why some jobs are not counted, each reason with its algorithms."""
        found: dict[str, list[str]] = {}
        for each in self.estimates:
            if each.amount is None and each.job.algorithm not in found.setdefault(each.why, []):
                found[each.why].append(each.job.algorithm)
        return found

    @property
    def untimed(self) -> list[str]:
        """The algorithms of which some job is known, but not its seconds on this machine."""
        known = (each for each in self.estimates if each.amount is not None)
        without = (each for each in known if each.seconds(self.machine) is None)
        return list(dict.fromkeys(each.job.algorithm for each in without))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per algorithm, as JSON has it."""
        names = dict.fromkeys(each.job.algorithm for each in self.estimates)
        return [self._row([e for e in self.estimates if e.job.algorithm == n], n) for n in names]

    @property
    def total(self) -> dict[str, Any]:
        """The row of all jobs that are known."""
        return self._row([e for e in self.estimates if e.amount is not None], "all")

    @property
    def wall_seconds(self) -> float:
        """The seconds until the last job ends, each on its share of all cores."""
        times = [seconds for each in self.estimates if (seconds := each.seconds(self.machine))]
        threads = max((each.job.threads for each in self.estimates), default=1)
        return makespan(times, max(1, self.cores // threads) * self.machines)

    def _row(self, estimates: list[JobEstimate], name: str) -> dict[str, Any]:
        known = [each for each in estimates if each.amount is not None]
        total = sum((each.amount for each in known if each.amount is not None), Amount())
        seconds = [each.seconds(self.machine) for each in known]
        row = {"algorithm": name, "jobs": len(estimates), **asdict(total)}
        row["seconds"] = None if None in seconds else sum(filter(None, seconds))
        row["from"] = _basis(known)
        if any(each.records and not each.ran for each in known):
            row["most_updates"] = None  # others' records do not bound it
        return row if known else {**dict.fromkeys(row), "algorithm": name, "jobs": len(estimates)}

    @property
    def facts(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {
            "algorithms": self.rows,
            "total": self.total,
            "unknown": self.unknown,
            "reasons": self.reasons,
            "machine": {"processor": processor(), **(asdict(self.machine) if self.machine else {})},
            "cores": self.cores,
            "machines": self.machines,
            "wall_seconds": self.wall_seconds,
            "compared": asdict(self.compared) if self.compared else None,
        }

    def __repr__(self) -> str:
        headers = ("algorithm", "jobs", "trainings", "updates", "at most", "TFLOPs", "storage",
                   "core time", "from")  # fmt: skip
        rows = [_cells(row) for row in self.rows]
        if len(rows) > 1:
            rows.append(_cells(self.total))
        job = self.estimates[0].job
        lines = [
            f"suite {job.suite}  scale {job.scale}  protocol {job.protocol}",
            table(rows, headers),
            "",
            paragraph(
                f"about {_time(self.wall_seconds)} on {self.machines} × {self.cores} cores "
                f"like this machine's{_speed(self.machine)}; paths that several jobs share are "
                "trained once and counted for each here"
            ),
        ]
        for why, names in self.reasons.items():
            lines.append(paragraph(f"not counted: {', '.join(names)}, as {why}"))
        if self.untimed:
            lines.append(paragraph(f"not timed: {', '.join(self.untimed)}, as {UNTIMED}"))
        if self.compared:
            lines.append(paragraph(_compared(self.compared)))
        return "\n".join(lines)


def forecast(
    plan: Plan,
    store: ResultStore,
    *,
    cores: int,
    machines: int,
    tell: Tell,
) -> Forecast:
    """Return what the plan's jobs take. This machine is timed only if some seconds depend on it."""
    check_number("--cores", cores, 1)
    check_number("--machines", machines, 1)
    sizes = Sizes(tell)
    estimates = estimate(plan, store, sizes, tell)
    job, machine = plan.jobs[0], None
    if found := networks((each.job for each in estimates if each.needs_timing), sizes):
        machine = calibrate(found, device=job.device, threads=job.threads, tell=tell)
    return Forecast(estimates, machine, cores, machines, _compare(estimates, machine))


def _compare(estimates: list[JobEstimate], machine: Machine | None) -> Comparison | None:
    """Return how far the counts of jobs that have run are off; None if there are no such jobs."""
    ran = [(each.counted, each) for each in estimates if each.ran and each.counted]
    if not ran:
        return None
    expected = sum((counted for counted, _ in ran), Amount())
    found = sum((each.amount for _, each in ran if each.amount), Amount())
    here = [(counted, took) for counted, each in ran if (took := each.recorded_seconds)]
    guessed = sum(machine.seconds(each.updates, each.flops) for each, _ in here) if machine else 0.0
    return Comparison(
        jobs=len(ran),
        updates=_ratio(expected.updates, found.updates),
        flops=_ratio(expected.flops, found.flops),
        seconds=_ratio(guessed, sum(took for _, took in here)) if machine else None,
    )


def _ratio(expected: float, found: float) -> float | None:
    return expected / found if found else None


def _basis(estimates: list[JobEstimate]) -> str:
    """Return what these estimates rest on, such as ``3 records, counted``."""
    same, other = set[str](), set[str]()
    for each in estimates:
        for record in each.records:
            (same if record.job.sequence == each.job.sequence else other).add(record.job.key)
    parts = [_records(len(same))] if same else []
    parts += [f"{_records(len(other))} of other sequences"] if other else []
    parts += ["counted"] if any(not each.records for each in estimates) else []
    return ", ".join(parts)


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number} records"


def _cells(row: dict[str, Any]) -> list[object]:
    if row["updates"] is None:
        return [row["algorithm"], row["jobs"], *[None] * 7]
    return [
        row["algorithm"],
        row["jobs"],
        round(row["trainings"]),
        round(row["updates"]),
        None if row["most_updates"] is None else round(row["most_updates"]),
        f"{(row['train_flops'] + row['inference_flops']) / 1e12:.4g}",
        format_size(row["bytes"]),
        None if row["seconds"] is None else _time(row["seconds"]),
        row["from"],
    ]


def _speed(machine: Machine | None) -> str:
    """Return how fast this machine is, in brackets; nothing if it was not timed."""
    if machine is None:
        return ""
    return (
        f" ({machine.flops_per_second / 1e9:.1f} GFLOP/s and "
        f"{1e3 * machine.update_seconds:.2f} ms per update, {machine.start_seconds:.0f} s to start "
        "a job)"
    )


def _compared(found: Comparison) -> str:
    ratios = {"updates": found.updates, "FLOPs": found.flops, "CPU seconds": found.seconds}
    told = [f"of {name} {_off(ratio)}" for name, ratio in ratios.items() if ratio is not None]
    ran = "1 of these jobs has run" if found.jobs == 1 else f"{found.jobs} of these jobs have run"
    return f"{ran}; the estimate was off by: {', '.join(told)}"


def _off(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f}%"


def _time(seconds: float) -> str:
    for unit, size in (("years", 365 * 86400), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
