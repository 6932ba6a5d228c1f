"""``bell-bench doctor``: what works on this machine, and what to do about what does not."""

from __future__ import annotations

import dataclasses

import click

from bell_bench.cli.output import echo_json
from bell_bench.descriptions.doctor import Check, examine
from bell_bench.text import table


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="A list of findings.")
def command(as_json: bool) -> int:
    """Check versions, torch, torchvision, devices, threads, memory, disk, data and plugins.

    Exits with 1 if something that is needed fails.
    """
    checks = examine()
    if as_json:
        echo_json([dataclasses.asdict(check) for check in checks])
    else:
        click.echo(table(((check.status, check.name, _line(check)) for check in checks), indent=0))
        click.echo(_verdict(checks))
    return int(any(check.status == "fail" for check in checks))


def _line(check: Check) -> str:
    return f"{check.found} → {check.advice}" if check.advice else check.found


def _verdict(checks: list[Check]) -> str:
    counts = {status: sum(c.status == status for c in checks) for status in ("fail", "warn")}
    if counts["fail"]:
        return f"\n{counts['fail']} failed, {counts['warn']} to look at"
    return f"\nready, {counts['warn']} to look at" if counts["warn"] else "\nready"
