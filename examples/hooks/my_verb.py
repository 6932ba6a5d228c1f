"""A verb, ``bell-bench count``, and its function, ``bell_bench.count_jobs``."""

import pathlib

import click

from bell_bench import ResultStore


def count_jobs(folder="runs"):
    """Return how many jobs a folder of runs has."""
    return len(list(ResultStore(pathlib.Path(folder))))


@click.command()
@click.argument("folder", default="runs")
def command(folder):
    """Count the jobs in FOLDER."""
    click.echo(f"{count_jobs(folder)} jobs")
