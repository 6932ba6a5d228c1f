"""Find and shorten paths of somebody's machine, which no published result should contain."""

from __future__ import annotations

import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from bell_bench.records.packed.plain_json import walk

_PART = r"[^\s/\\:'\"<>|,;()]+"
_PATH = re.compile(
    rf"(?<![\w./~])(?:file://)?(?:~(?:/{_PART})+|(?:/{_PART}){{2,}})/?"
    rf"|(?<![A-Za-z0-9])[A-Za-z]:(?:\\+{_PART})+"
)
"""An absolute path of at least two parts, a path from a home folder, or one on a drive; but not the
middle of a web address or of a ratio."""


def local_paths(record: Any) -> Iterator[tuple[str, str]]:
    """Yield where a record holds a path, and the path."""
    for way, part in walk(record):
        if isinstance(part, str) and (match := _PATH.search(part)):
            yield ".".join(map(str, way)), match[0]


def shorten(record: Any) -> tuple[Any, list[str]]:
    """Return the record with every path cut to its last part, and the places that had a path."""
    roots = _roots()
    places: list[str] = []

    def short(value: Any, where: str) -> Any:
        if isinstance(value, dict):
            return {
                short(key, where): short(part, f"{where}.{key}".lstrip("."))
                for key, part in value.items()
            }
        if isinstance(value, list):
            return [short(part, where) for part in value]
        if not isinstance(value, str):
            return value
        cut = _cut(value, roots)
        if cut != value and where not in places:
            places.append(where)
        return cut

    return short(record, ""), places


def _cut(value: str, roots: list[str]) -> str:
    for root in roots:
        value = re.sub(rf"(?<![\w./]){re.escape(root)}[/\\]", "/…/", value)
    return _PATH.sub(lambda match: re.split(r"[/\\]", match[0].rstrip("/\\"))[-1], value)


def _roots() -> list[str]:
    """Return folders whose names may contain spaces, the longest first."""
    known = (pathlib.Path.cwd(), os.path.expanduser("~"), tempfile.gettempdir(), sys.prefix)
    return sorted({str(root) for root in known if len(str(root)) > 1}, key=len, reverse=True)
