"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

SETTINGS = ("suite", "scale", "data", "protocol")
"""Rows are compared only where these agree."""

Row = Mapping[str, Any]


def summary_table(rows: Iterable[Row]) -> str:
    """Per sequence and algorithm the mean over realisations and seeds, one block per setting.

    A cell with jobs that are not done names their status instead of averaging them away.
    """
    blocks: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        blocks.setdefault(tuple(row[name] for name in SETTINGS), []).append(row)
    return "\n\n".join(_block(settings, block) for settings, block in blocks.items())


def _block(settings: tuple[Any, ...], rows: list[Row]) -> str:
    cells: dict[tuple[str, str], list[Row]] = {}
    names = labels(rows)
    for row, name in zip(rows, names, strict=True):
        cells.setdefault((row["sequence"], name), []).append(row)
    algorithms = list(dict.fromkeys(names))
    lines = [["sequence", "algorithm", "A", "F", "Tr⁻¹", "seconds", "updates", "TFLOPs", "MB", "n"]]
    lines += [[*place, *_figures(found)] for place, found in cells.items()]
    if len(cells) > len(algorithms):
        for algorithm in algorithms:
            found = [figures for (_, name), figures in cells.items() if name == algorithm]
            lines.append(["all", algorithm, *_figures([row for each in found for row in each])])
    title = "  ".join(f"{name} {value}" for name, value in zip(SETTINGS, settings, strict=True))
    return f"{title}\n{_aligned(lines)}"


def labels(rows: list[Row]) -> list[str]:
    """Each row's algorithm, followed by what tells its variants apart where there are several."""
    variants: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        known = variants.setdefault(row["algorithm"], [])
        if row["variant"] not in known:
            known.append(row["variant"])
    return [_label(row, variants[row["algorithm"]]) for row in rows]


def _label(row: Row, variants: list[Mapping[str, Any]]) -> str:
    flat = [{**variant, **variant["options"]} for variant in variants]
    own = {**row["variant"], **row["variant"]["options"]}
    unlike = [
        f"{name}={value}"
        for name, value in own.items()
        if name != "options" and any(other.get(name) != value for other in flat)
    ]
    return f"{row['algorithm']} [{', '.join(unlike)}]" if unlike else str(row["algorithm"])


def _figures(rows: list[Row]) -> list[str]:
    count = str(len(rows))
    bad = sorted({row["status"] for row in rows if row["status"] != "done"})
    if bad:
        done = sum(row["status"] == "done" for row in rows)
        return [", ".join(bad), "", "", "", "", "", "", f"{done}/{count}"]
    return [
        _mean(rows, "A", "{:.2f}"),
        _mean(rows, "F", "{:+.2f}"),
        _mean(rows, "Tr_last", "{:+.2f}"),
        _mean(rows, "wall_s", "{:.1f}"),
        _mean(rows, "updates", "{:.0f}"),
        _mean(rows, "train_flops", "{:.3g}", scale=1e-12),
        _mean(rows, "peak_memory_mb", "{:.0f}"),
        count,
    ]


def _mean(rows: list[Row], name: str, form: str, scale: float = 1.0) -> str:
    values = [row[name] for row in rows]
    if any(value is None for value in values):
        return "–"
    text = form.format(scale * float(np.mean(values)))
    return text.replace("+0.00", "0.00").replace("-0.00", "0.00")


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  " + "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )  # fmt: skip
