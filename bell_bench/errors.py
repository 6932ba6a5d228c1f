"""Errors, with messages for the person who meets them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BellBenchError(Exception):
    """An error that the user can act on: the message says what was asked, found, and to do next."""


class UsageError(BellBenchError):
    """Wrong usage (exit code 2): an unknown name, an ill-typed option, an impossible request."""


def unknown(kind: str, name: str, known: Iterable[str], hint: str = "") -> UsageError:
    """Return the error for a mistyped name, which suggests the nearest known ones."""
    choices = sorted(set(known))
    folded = {choice.casefold(): choice for choice in reversed(choices)}
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    message = f"unknown {kind} {name!r}"
    if near:
        message += f"; did you mean {' or '.join(folded[match] for match in near)}?"
    elif choices:
        message += f"; known: {', '.join(choices)}"
    return UsageError(f"{message}{' ' + hint if hint else ''}")


class Unsupported(BellBenchError):
    """Raised by an algorithm that cannot run on what it was given; the job's status says so."""
