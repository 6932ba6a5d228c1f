"""Show how far a loop has come to a person who waits for it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import click

T = TypeVar("T")

PATIENCE = 2.0
"""How many seconds pass before progress is shown."""
INTERVAL = 10.0
"""How many seconds lie between two lines of progress if there is no terminal."""


def watched(label: str) -> Callable[[Sequence[T]], Iterator[T]]:
    """Return a function that yields items; if that takes long, it shows a bar, or lines."""

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
    """Yield a function that sets a bar on stderr."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)
