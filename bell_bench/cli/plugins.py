"""``bell-bench plugins``: what is installed, what it provides, what is broken and why."""

from __future__ import annotations

import dataclasses
import os
import warnings

import click

from bell_bench.cli.output import echo_json
from bell_bench.plugins import LIMIT, PluginInfo, PluginWarning, registry
from bell_bench.text import paragraph

SLOW = 0.5


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="A list of plugins.")
def command(as_json: bool) -> None:
    """Show each plugin: its distribution, version, what it provides, and why it is broken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # the same is shown here, in full
        plugins = registry().plugins
    if as_json:
        echo_json([dataclasses.asdict(info) for info in plugins])
        return
    for info in plugins:
        _show(info)
    if not plugins:
        click.echo("no plugins")
    if LIMIT in os.environ:
        click.echo(f"limited by {LIMIT}={os.environ[LIMIT]!r}")


def _show(info: PluginInfo) -> None:
    click.echo(f"{info.status:6}  {info.name}, of {info.distribution} {info.version}")
    for kind, names in info.provides.items():
        click.echo(paragraph(f"{kind}: {', '.join(names)}", indent=8))
    if info.reason:
        click.echo(paragraph(info.reason, indent=8))
    for conflict in info.conflicts:
        click.echo(paragraph(f"conflict: {conflict}", indent=8))
    if info.seconds > SLOW:
        slow = f"slow: its import took {info.seconds:.1f} s, which every command waits for"
        click.echo(paragraph(slow, indent=8))
