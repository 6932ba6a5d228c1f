"""A plan's estimate as people read it: by algorithm, on some machines, and how far it was off."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bell_bench.harness.calibration import Machine, calibrate
from bell_bench.harness.environment import processor
from bell_bench.harness.estimate import Amount, TimeEstimate, estimate, makespan, measured, networks
from bell_bench.harness.plan import Plan
from bell_bench.harness.progress import Tell
from bell_bench.harness.ranges import check_number
from bell_bench.records import Record, ResultStore
from bell_bench.text import paragraph, table
from bell_bench.units import format_size


@dataclass(frozen=True)
class Comparison:
    """Estimate over measurement, of the plan's jobs that have run; None where that was nothing."""

    jobs: int
    updates: float | None
    flops: float | None
    seconds: float | None
    """Of those that ran on this kind of processor."""


@dataclass(frozen=True, repr=False)
class Forecast:
    """What a plan takes. Seconds are those of one core, if not said otherwise. Printed, it is what
    ``bell-bench plan`` prints."""

    estimates: list[TimeEstimate]
    machine: Machine
    cores: int
    machines: int
    compared: Comparison | None

    @property
    def unknown(self) -> list[str]:
        """The algorithms that do not say how much they train."""
        return list(dict.fromkeys(e.job.algorithm for e in self.estimates if e.amount is None))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One per algorithm, as JSON has it."""
        names = dict.fromkeys(each.job.algorithm for each in self.estimates)
        return [self._row([e for e in self.estimates if e.job.algorithm == n], n) for n in names]

    @property
    def total(self) -> dict[str, Any]:
        return self._row([e for e in self.estimates if e.amount is not None], "all")

    @property
    def wall_seconds(self) -> float:
        """Until the last job ends, each on its share of all cores."""
        times = [seconds for each in self.estimates if (seconds := each.seconds(self.machine))]
        threads = max((each.job.threads for each in self.estimates), default=1)
        return makespan(times, max(1, self.cores // threads) * self.machines)

    def _row(self, estimates: list[TimeEstimate], name: str) -> dict[str, Any]:
        known = [each for each in estimates if each.amount is not None]
        amounts = [each.amount for each in known if each.amount is not None]
        total = sum(amounts, Amount())
        seconds = sum(each.seconds(self.machine) or 0.0 for each in known)
        row = {"algorithm": name, "jobs": len(estimates), **asdict(total), "seconds": seconds}
        return row if known else {**dict.fromkeys(row), "algorithm": name, "jobs": len(estimates)}

    @property
    def facts(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {
            "algorithms": self.rows,
            "total": self.total,
            "unknown": self.unknown,
            "machine": {"processor": processor(), **asdict(self.machine)},
            "cores": self.cores,
            "machines": self.machines,
            "wall_seconds": self.wall_seconds,
            "compared": asdict(self.compared) if self.compared else None,
        }

    def __repr__(self) -> str:
        headers = ("algorithm", "jobs", "trainings", "updates", "at most", "TFLOPs", "storage",
                   "core time")  # fmt: skip
        rows = [_cells(row) for row in self.rows]
        if len(rows) > 1:
            rows.append(_cells(self.total))
        speed, job = self.machine, self.estimates[0].job
        lines = [
            f"suite {job.suite}  scale {job.scale}  protocol {job.protocol}",
            table(rows, headers),
            "",
            paragraph(
                f"about {_time(self.wall_seconds)} on {self.machines} × {self.cores} cores "
                f"like this machine's ({speed.flops_per_second / 1e9:.1f} GFLOP/s and "
                f"{1e3 * speed.update_seconds:.2f} ms per update, {speed.start_seconds:.0f} s to "
                "start a job); paths that several jobs share are trained once and counted for each "
                "here"
            ),
        ]
        if self.unknown:
            names = ", ".join(self.unknown)
            lines.append(paragraph(f"not counted: {names}, as nobody says how much they train"))
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
    """Count what the plan's jobs train, time this machine, and compare with what has run."""
    check_number("--cores", cores, 1)
    check_number("--machines", machines, 1)
    job = plan.jobs[0]
    machine = calibrate(networks(plan), device=job.device, threads=job.threads, tell=tell)
    estimates = estimate(plan, tell)
    return Forecast(estimates, machine, cores, machines, _compare(estimates, store, machine))


def _compare(
    estimates: list[TimeEstimate], store: ResultStore, machine: Machine
) -> Comparison | None:
    ran = [
        (each, record, each.amount)
        for each in estimates
        if each.amount is not None
        and store.finished(each.job)
        and (record := store.folder_of(each.job).record())
        and record.done
    ]
    if not ran:
        return None
    expected = sum((amount for _, _, amount in ran), Amount())
    found = sum((measured(record) for _, record, _ in ran), Amount())
    here = [(e, r) for e, r, _ in ran if r.environment.cpu == processor()]
    took = sum(_seconds(record) for _, record in here)
    guessed = sum(each.seconds(machine) or 0.0 for each, _ in here)
    return Comparison(
        jobs=len(ran),
        updates=_ratio(expected.updates, found.updates),
        flops=_ratio(expected.flops, found.flops),
        seconds=_ratio(guessed - len(here) * machine.start_seconds, took),
    )


def _seconds(record: Record) -> float:
    """CPU seconds of learning: unlike wall time, they do not depend on what else was running."""
    return float(sum(problem.resources.cpu_s for problem in record.problems))


def _ratio(expected: float, found: float) -> float | None:
    return expected / found if found else None


def _cells(row: dict[str, Any]) -> list[object]:
    if row["updates"] is None:
        return [row["algorithm"], row["jobs"], *[None] * 6]
    return [
        row["algorithm"],
        row["jobs"],
        round(row["trainings"]),
        round(row["updates"]),
        round(row["most_updates"]),
        f"{(row['train_flops'] + row['inference_flops']) / 1e12:.4g}",
        format_size(row["bytes"]),
        _time(row["seconds"]),
    ]


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
