"""Format text that reads well on a terminal, in a pipe and in a log."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence


def table(rows: Iterable[Sequence[object]], headers: Sequence[str] = (), indent: int = 2) -> str:
    """Return rows in aligned columns, numbers to the right; a terminal wraps the last column."""
    values = [list(row) for row in rows]
    cells = [[_cell(value) for value in row] for row in values]
    lines = [list(headers), *cells] if headers else cells
    if not lines:
        return ""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    right = [bool(values) and all(_number(row[c]) for row in values) for c in range(len(widths))]
    return "\n".join(_line(line, widths, right, indent) for line in lines)


def paragraph(text: str, indent: int = 0) -> str:
    """Return a text wrapped to the terminal's width, or to 100 columns elsewhere."""
    margin = " " * indent
    width = min(terminal_width() or 100, 100)
    return textwrap.fill(text, width, initial_indent=margin, subsequent_indent=margin)


def terminal_width() -> int | None:
    """Return the terminal's width, or None if the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def brief(value: object) -> str:
    """Return any JSON-able value on one line."""
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {brief(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        inner = [f"({brief(x)})" if isinstance(x, list | tuple) else brief(x) for x in value]
        return ", ".join(inner)
    return _cell(value)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())


def _number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _line(line: Sequence[str], widths: Sequence[int], right: Sequence[bool], indent: int) -> str:
    columns = list(zip(line, widths, right, strict=True))
    padded = [
        cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in columns
    ]
    start = " " * indent + "".join(cell + "  " for cell in padded[:-1])
    room = (terminal_width() or sys.maxsize) - len(start)
    if room < 20 or len(line[-1]) <= room:
        return (start + padded[-1]).rstrip()
    return textwrap.fill(
        line[-1], len(start) + room, initial_indent=start, subsequent_indent=" " * len(start)
    )
