"""The numbers that a run or a plan may ask for: the same from Python and from the command line."""

from __future__ import annotations

from bell_bench.errors import UsageError

MOST_REALISATIONS = 10_000
MOST_THREADS = 1024


def check_number(option: str, asked: object, least: int, most: int | None = None) -> None:
    """Raise UsageError unless ``asked`` is a whole number from ``least`` to ``most``."""
    if isinstance(asked, int) and asked >= least and (most is None or asked <= most):
        return
    allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise UsageError(f"{option} {asked!r} was asked for: give a whole number {allowed}")


def check_positive(option: str, asked: float) -> None:
    """Raise UsageError unless ``asked`` is a number above 0."""
    if not asked > 0:
        raise UsageError(f"{option} {asked!r} was asked for: give a number above 0, or none at all")
