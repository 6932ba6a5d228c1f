"""The error for input that is not read any further, and how strangers' text is shown."""

from __future__ import annotations

from bell_bench.errors import UsageError


class Refused(UsageError):
    """Too large, malformed or hostile; the message says what was found and what is allowed."""


def shown(value: object, length: int = 160) -> str:
    """A stranger's value on one line: no control characters, which could steer a terminal or be
    read as commands by a CI's log, and no more than fits."""
    text = value if isinstance(value, str) else repr(value)
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return plain if len(plain) <= length else plain[: length - 1] + "…"
