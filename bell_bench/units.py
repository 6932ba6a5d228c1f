"""Sizes and times as people write them, with one meaning everywhere."""

from __future__ import annotations

import re

from bell_bench.errors import UsageError

_SIZE = re.compile(r"(\d{1,15}(?:\.\d+)?)\s*([kmgt]?)(i?)(?:b|bytes)?", re.IGNORECASE)
_TIME = re.compile(r"(\d{1,15}(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_size(text: str) -> int:
    """Return the bytes of a size: 500 MB, 20gb, 4G, 1.5 GiB, 1000."""
    match = _SIZE.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise UsageError(f"{text!r} is not a size: write 800 MB, 4G or 1.5 GiB")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * base ** " kmgt".index(match[2].lower() or " "))


def format_size(size: float) -> str:
    """Return a size as ``parse_size`` reads it: 1.5 GB."""
    units = ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.4g} {units[0]}"


def parse_time(text: str) -> float:
    """Return the seconds of a time: 90s, 30m, 2h, 30d, 2w."""
    match = _TIME.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise UsageError(f"{text!r} is not a time: write 90s, 30m, 2h, 30d or 2w")
    return float(match[1]) * _SECONDS[match[2].lower()]
