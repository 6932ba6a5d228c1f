"""Items one after the other, and how far they have come for whoever waits."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import click

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds after which whoever waits is shown how far it is."""
INTERVAL = 10.0
"""Seconds between two lines of progress where there is no terminal."""


def watched(label: str) -> Callable[[Sequence[T]], Iterator[T]]:
    """Hands items on; once that takes long, with a bar on a terminal and lines elsewhere."""

    def watch(items: Sequence[T]) -> Iterator[T]:
        began = told = time.monotonic()
        with contextlib.ExitStack() as stack:
            advance: Callable[[int], None] | None = None
            for done, item in enumerate(items):
                now = time.monotonic()
                if advance is None and now - began > PATIENCE and sys.stderr.isatty():
                    advance = stack.enter_context(_bar(label, len(items)))
                if advance is not None:
                    advance(done)
                elif now - told > INTERVAL:
                    told = now
                    click.echo(f"{label}: {done} of {len(items)}", err=True)
                yield item

    return watch


@contextlib.contextmanager
def _bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, and what sets it."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)
