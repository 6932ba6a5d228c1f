"""The ablations' tables: all rows as CSV, and a summary to print."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pandas as pd

from bell_bench.files import write_whole
from bell_bench_paper.ablations import nt_search

Summary = tuple[list[str], list[list[Any]]]
"""Headers and lines."""
SHOWN = (2, 4, 6, 8)
"""The numbers of paths after which the summary of a search shows its best accuracy."""


def write_csv(rows: pd.DataFrame, file: pathlib.Path) -> None:
    write_whole(file, rows.to_csv(index=False).encode())


def density_summary(rows: pd.DataFrame) -> Summary:
    """Return the average position by N and method."""
    methods = list(rows["method"].unique())
    lines = [
        [size, *(with_error(own["average_position"][own["method"] == m], 2) for m in methods)]
        for size, own in rows.groupby("N")
    ]
    return ["N", *methods], lines


def nt_search_summary(rows: pd.DataFrame) -> Summary:
    """Return the paths needed and the best accuracies, in per cent, by method; the last line is the
    best that could be found."""
    stopping, curves = nt_search.stopping(rows), 100 * nt_search.curves(rows)
    shown = [paths for paths in SHOWN if paths in curves.columns]
    lines: list[list[Any]] = []
    for method, runs in stopping.groupby("method", sort=False):
        reached = [with_error(curves.loc[method][paths], 1) for paths in shown]
        end = with_error(100 * runs["best_accuracy"], 1)
        lines.append([method, len(runs), with_error(runs["paths"], 1), *reached, end])
    highest = 100 * stopping.groupby("realisation")["highest_accuracy"].first()
    unknown = [None] * (1 + len(shown))
    lines.append(["all suffixes", len(highest), *unknown, with_error(highest, 1)])
    after = [f"best after {paths}" for paths in shown]
    return ["method", "runs", "paths until it stopped", *after, "at its end"], lines


def with_error(series: pd.Series, digits: int) -> str:
    """Return mean and standard error as text; a single value has no error."""
    values = series.to_numpy(dtype=float)
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else None
    return f"{np.mean(values):.{digits}f}" + (f" ± {error:.{digits}f}" if error is not None else "")


def density_title(data: str, scale: str) -> str:
    """Return the title above the table and the figure."""
    return f"Average position of the true domain among nine ({data}, {scale})"


def nt_search_title(data: str, scale: str, protocol: str) -> str:
    """Return the title above the table and the figure."""
    return f"Search for latent transfer on S_in_plus ({data}, {scale}, {protocol})"
