"""The error for refused input, and how strangers' text is shown."""

from __future__ import annotations

from bell_bench.errors import UsageError


class Refused(UsageError):
    """Input is too large, malformed or hostile; the message says what was found and is allowed."""


def shown(value: object, length: int = 160) -> str:
    """Return a stranger's value on one line of limited length, without control characters: these
    could control a terminal or be read as commands in a CI's log."""
    text = value if isinstance(value, str) else repr(value)
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return plain if len(plain) <= length else plain[: length - 1] + "…"
