"""Tables before they have a format, and their formats: text for the terminal, Markdown, LaTeX and
CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bell_bench_leaderboard.bootstrap import MeanEstimate
from bell_bench_leaderboard.rows import csv_text, printable


@dataclass(frozen=True)
class Value:
    """A cell: its text, its interval if it has one, and whether it is the best of its row."""

    text: str
    low: str = ""
    high: str = ""
    best: bool = False

    def __str__(self) -> str:
        return f"{self.text} [{self.low}, {self.high}]" if self.low else self.text


@dataclass(frozen=True)
class Grid:
    """Cells under headers, with a title and footnotes. The first ``names`` columns hold names."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()
    names: int = 1
    rules: Sequence[int] = field(default_factory=tuple)
    """The rows above which a line is drawn."""
    sentences: int = 0
    """How many columns at the end are text to read, not figures to compare. They are aligned to the
    left, as names are."""

    def to_left(self, column: int) -> bool:
        """Return whether a column is aligned to the left."""
        return column < self.names or column >= len(self.header) - self.sentences


def value(estimate: MeanEstimate | None, form: str, *, scale: float = 1.0, note: str = "") -> Value:
    """Return an estimate as a cell; a dash if there is no estimate."""
    if estimate is None:
        return Value("–")
    text = number(scale * estimate.mean, form) + note
    if estimate.interval is None:
        return Value(text)
    low, high = (number(scale * end, form) for end in estimate.interval)
    return Value(text, low, high)


def number(amount: float, form: str) -> str:
    """Return a number as text, without a sign if it is printed as zero."""
    text = form.format(amount)
    return text.lstrip("+-") if re.fullmatch(r"[+-]?0(\.0*)?", text) else text


def to_text(grid: Grid) -> str:
    """Return the table for a terminal: aligned columns, with a star after the best value."""
    lines = [list(grid.header), *([_text(cell) for cell in row] for row in grid.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(grid.header))]
    body = [
        "  " + "  ".join(
            cell.ljust(width) if grid.to_left(column) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]  # fmt: skip
    for place in reversed(grid.rules):
        body.insert(place + 1, "")
    return "\n".join(
        [printable(grid.title), *body, *(f"  {printable(note)}" for note in grid.notes)]
    )


def _text(cell: Value) -> str:
    return printable(f"{cell}{'*' if cell.best else ''}")


def to_markdown(grid: Grid) -> str:
    """Return the table in GitHub's Markdown, with the best value in bold."""
    rows = [[_markdown(cell) for cell in row] for row in grid.rows]
    dashes = ["---" if grid.to_left(column) else "---:" for column in range(len(grid.header))]
    lines = [[_escape_markdown(name) for name in grid.header], dashes, *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = "\n".join(f"{_escape_markdown(note)}  " for note in grid.notes).rstrip()
    return f"**{_escape_markdown(grid.title)}**\n\n{table}\n" + (f"\n{notes}\n" if notes else "")


def _markdown(cell: Value) -> str:
    text = _escape_markdown(cell.text)
    text = f"**{text}**" if cell.best else text
    return f"{text} \\[{cell.low}, {cell.high}\\]" if cell.low else text


def _escape_markdown(text: str) -> str:
    safe = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", safe)


def to_latex(grid: Grid) -> str:
    """Return a tabular for booktabs: intervals as sub- and superscript, the best value in bold."""
    columns = "".join("l" if grid.to_left(place) else "r" for place in range(len(grid.header)))
    lines = [f"% {printable(grid.title)}", f"\\begin{{tabular}}{{{columns}}}", "\\toprule"]
    lines += [" & ".join(map(_escape_latex, grid.header)) + r" \\", "\\midrule"]
    for place, row in enumerate(grid.rows):
        lines += ["\\midrule"] if place in grid.rules else []
        cells = [_latex(cell, named=column < grid.names) for column, cell in enumerate(row)]
        lines.append(" & ".join(cells) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    return "\n".join([*lines, *(f"% {printable(note)}" for note in grid.notes)]) + "\n"


def _latex(cell: Value, *, named: bool) -> str:
    symbol = _symbol(cell.text) if named else None
    text = symbol or re.sub(r"^([+-])(?=\d)", r"$\1$", _escape_latex(cell.text))
    text = f"\\textbf{{{text}}}" if cell.best else text
    if not cell.low:
        return text
    return f"{text}$_{{{_escape_latex(cell.low)}}}^{{{_escape_latex(cell.high)}}}$"


_SIGNS = {"minus": "-", "plus": "+", "star": "*"}
_SPECIAL = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "–": "--", "−": "$-$", "⁻¹": "$^{-1}$", "<": r"\textless{}", ">": r"\textgreater{}",
    "≥": r"$\geq$", "≤": r"$\leq$",
}  # fmt: skip


def _symbol(name: str) -> str | None:
    """Return a sequence as the paper writes it: S_out_star is S with a superscript out*."""
    if not re.fullmatch(r"[Ss](_[A-Za-z0-9]+)+", name):
        return None
    parts = [_SIGNS.get(part, f"\\text{{{part}}}") for part in name.split("_")[1:]]
    return f"${name[0].upper()}^{{{''.join(parts)}}}$"


def _escape_latex(text: str) -> str:
    return re.sub("⁻¹|[&%$#_{}\\\\~^–−<>≥≤]", lambda found: _SPECIAL[found[0]], printable(text))


def to_csv(grid: Grid) -> str:
    """Return the table as CSV: means, and the ends of their intervals in columns of their own.
    Notes are left out."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = [csv_text(name) for name in grid.header[: grid.names]]
    for name in map(csv_text, grid.header[grid.names :]):
        header += [name, f"{name} low", f"{name} high"]
    writer.writerow(header)
    for row in grid.rows:
        line = [csv_text(cell.text) for cell in row[: grid.names]]
        for cell in row[grid.names :]:
            line += [_csv(cell.text), cell.low, cell.high]
        writer.writerow(line)
    return text.getvalue()


def _csv(text: str) -> str:
    """Return numbers as they are, with their signs; return any other text made safe for a
    spreadsheet."""
    return text if re.fullmatch(r"[+-]?\d+(\.\d+)?", text) else csv_text(text)
