"""What there is to name: suites as listings walk them, and completion of names in a shell."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from bell_bench.plugins import Provided, registry
from bell_bench.specs import SuiteSpec

if TYPE_CHECKING:
    from bell_bench.suites.base import Suite

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def each_suite(only: str | None = None) -> Iterator[tuple[Provided[SuiteSpec], Suite]]:
    """The suites with their providers; one that does not load is named on stderr and left out."""
    if only is not None:
        registry().suite(only)  # an unknown or broken suite that was asked for is an error
    for provided in registry().suites:
        if only not in (None, provided.spec.name, provided.qualified):
            continue
        try:
            suite = registry().suite(provided.qualified)
        except Exception as error:
            click.echo(f"warning: {error}", err=True)
        else:
            yield provided, suite


def complete(*kinds: str) -> Completer:
    """A ``shell_complete`` function for names of these kinds: algorithms, suites, sequences, …"""

    def completer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                names = [name for kind in kinds for name in _names(kind)]
            except Exception:  # a shell's prompt is no place for errors
                return []
        return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]

    return completer


def _names(kind: str) -> Iterator[str]:
    if kind in ("algorithms", "suites", "domains"):
        yield from (provided.spec.name for provided in getattr(registry(), kind))
    else:
        for _, suite in each_suite():
            yield from getattr(suite, kind)
