"""Complete names in a shell."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import click

from bell_bench.descriptions.listings import KINDS, each_suite, executors
from bell_bench.plugins import registry

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete(*kinds: str) -> Completer:
    """Return a ``shell_complete`` function for names of these kinds: algorithms, suites, …"""

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
    elif kind == "executors":
        yield from (row["name"] for row in executors(None))
    elif kind == "kinds":
        yield from (*KINDS, *sorted(registry().families))
    else:
        for _, suite in each_suite():
            yield from getattr(suite, kind)
