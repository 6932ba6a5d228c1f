"""``bell-bench plan``: what a run would take, before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bell_bench.cli.output import echo_json
from bell_bench.cli.requests import arguments, requested
from bell_bench.harness.progress import steps
from bell_bench.text import paragraph, table
from bell_bench.units import format_size

if TYPE_CHECKING:
    from bell_bench.harness.forecast import Comparison, Forecast


@click.command()
@requested
@click.option(
    "--cores",
    type=click.IntRange(min=1),
    metavar="N",
    help="Cores of a machine.  [default: this one's]",
)
@click.option(
    "--machines",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="M",
    help="How many such machines; each core as fast as one of this machine's.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(cores: int | None, machines: int, as_json: bool, **asked: Any) -> None:
    """Tell what `evaluate` with the same options would take: jobs, updates, FLOPs, storage, time.

    How fast this machine trains is measured first, which takes some seconds. If some of the jobs
    have run, in --out, the estimate is compared with what they took.
    """
    wanted = arguments(asked)
    from bell_bench.api import plan

    with steps() as tell:
        forecast = plan(**wanted, cores=cores, machines=machines, tell=tell)
    if as_json:
        echo_json(forecast.facts)
        return
    click.echo(describe(forecast))


def describe(forecast: Forecast) -> str:
    """A forecast for people."""
    headers = ("algorithm", "jobs", "trainings", "updates", "at most", "TFLOPs", "storage",
               "core time")  # fmt: skip
    rows = [_cells(row) for row in forecast.rows]
    if len(rows) > 1:
        rows.append(_cells(forecast.total))
    speed, job = forecast.machine, forecast.estimates[0].job
    lines = [
        f"suite {job.suite}  scale {job.scale}  protocol {job.protocol}",
        table(rows, headers),
        "",
        paragraph(
            f"about {_time(forecast.wall_seconds)} on {forecast.machines} × {forecast.cores} cores "
            f"like this machine's ({speed.flops_per_second / 1e9:.1f} GFLOP/s and "
            f"{1e3 * speed.update_seconds:.2f} ms per update, {speed.start_seconds:.0f} s to start "
            "a job); paths that several jobs share are trained once and counted for each here"
        ),
    ]
    if forecast.unknown:
        names = ", ".join(forecast.unknown)
        lines.append(paragraph(f"not counted: {names}, as nobody says how much they train"))
    if forecast.compared:
        lines.append(paragraph(_compared(forecast.compared)))
    return "\n".join(lines)


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
    return f"{found.jobs} of these jobs have run; the estimate was off by: {', '.join(told)}"


def _off(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f}%"


def _time(seconds: float) -> str:
    for unit, size in (("years", 365 * 86400), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
