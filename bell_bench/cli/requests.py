"""The options that say which jobs are meant: shared by the verbs that plan jobs."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import click

from bell_bench.cli.names import complete
from bell_bench.errors import UsageError

OPTIONS = (
    click.option(
        "--algo",
        "algorithms",
        multiple=True,
        required=True,
        metavar="NAME",
        shell_complete=complete("algorithms"),
        help="A name, distribution:name, avalanche:NAME or ./file.py:Class. Repeatable.",
    ),
    click.option(
        "--suite",
        default="bell",
        show_default=True,
        shell_complete=complete("suites"),
        help="The suite of sequences.",
    ),
    click.option(
        "--sequence",
        "sequences",
        multiple=True,
        metavar="NAME",
        shell_complete=complete("sequences"),
        help="A sequence. Repeatable; all short ones by default.",
    ),
    click.option(
        "--scale",
        shell_complete=complete("scales"),
        help="quick, standard or paper.  [default: the suite's first, quick]",
    ),
    click.option(
        "--data",
        metavar="SOURCE",
        shell_complete=complete("sources"),
        help="Where images come from; the suite's embedded ones by default.",
    ),
    click.option(
        "--protocol",
        shell_complete=complete("protocols"),
        help="paper or authors-code.  [default: the suite's first, paper]",
    ),
    click.option(
        "--realisations",
        type=int,
        metavar="N",
        help="The first N realisations (the published ones come first).  [default: 1]",
    ),
    click.option(
        "--realisation",
        "chosen",
        type=int,
        multiple=True,
        metavar="K",
        help="Realisation K, from 0. Repeatable.",
    ),
    click.option(
        "--seed",
        "seeds",
        type=int,
        multiple=True,
        metavar="N",
        help="Seed of initial weights, batches and search. Repeatable.  [default: 0]",
    ),
    click.option(
        "--option",
        "options",
        multiple=True,
        metavar="ALGO.NAME=VALUE",
        help="Set an option of an algorithm (`bell-bench describe ALGO` lists them).",
    ),
    click.option(
        "--threads",
        type=int,
        default=1,
        show_default=True,
        help="Threads per job; part of a result's identity.",
    ),
    click.option("--device", default="cpu", show_default=True, help="cpu, cuda, cuda:1 or mps."),
    click.option(
        "--out",
        type=click.Path(path_type=pathlib.Path, file_okay=False),
        default="runs",
        show_default=True,
        help="The folder of results.",
    ),
)


def requested(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add these options to a command, which receives them as keywords for ``arguments``."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def arguments(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the options as the functions of ``bell_bench.api`` take them."""
    count, chosen = asked.pop("realisations"), asked.pop("chosen")
    if count is not None and chosen:
        raise UsageError("--realisations N or --realisation K, not both")
    return {
        **asked,
        "realisations": chosen or (1 if count is None else count),
        "seeds": asked["seeds"] or (0,),
    }
