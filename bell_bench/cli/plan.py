"""``bell-bench plan``: what a run would take, before it runs."""

from __future__ import annotations

from typing import Any

import click

from bell_bench.api import plan
from bell_bench.cli.output import echo_json
from bell_bench.cli.requests import arguments, requested
from bell_bench.harness.progress import steps


@click.command()
@requested
@click.option(
    "--cores",
    type=int,
    metavar="N",
    help="Cores of a machine.  [default: this one's]",
)
@click.option(
    "--machines",
    type=int,
    default=1,
    show_default=True,
    metavar="M",
    help="How many such machines; each core as fast as one of this machine's.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(cores: int | None, machines: int, as_json: bool, **asked: Any) -> None:
    """Forecast what `evaluate` with the same options takes: jobs, updates, FLOPs, storage, time.

    The records in --out are used where they fit; the rest is counted. If they do not give the
    seconds, this machine is timed, which takes a while. Counts are compared with what jobs took.
    """
    wanted = arguments(asked)
    with steps() as tell:
        forecast = plan(**wanted, cores=cores, machines=machines, tell=tell)
    if as_json:
        echo_json(forecast.facts)
        return
    click.echo(forecast)
