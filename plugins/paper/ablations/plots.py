"""The ablations' figures: means with bands of one standard error, as in the paper."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from bell_bench.pictures import save_picture
from bell_bench_paper.ablations import density, nt_search

SMALL = 1_000
"""The largest N of the density figure's second panel."""
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"),
    *("#56B4E9", "#000000", "#8B4513", "#888888"),
)
"""The colours of the methods, in order; colour-blind readers can tell them apart too."""
DASHES = ("-", "--", "-.", ":")


def draw_density(rows: pd.DataFrame, file: pathlib.Path, title: str) -> None:
    """Draw the average position against N, and beside it the same for small N."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    figure.suptitle(title, fontsize=10)
    for axis, most in zip(figure.subplots(1, 2), (rows["N"].max(), SMALL), strict=True):
        shown = rows[rows["N"] <= most].groupby(["method", "N"])["average_position"]
        for style, method in enumerate(density.METHODS):
            mean, error = shown.mean()[method], shown.sem().fillna(0.0)[method]
            _band(axis, mean, error, method, style, marker="o")
        sizes = sorted(set(rows["N"][rows["N"] <= most]))
        axis.set_xscale("log")
        axis.set_xticks(sizes, _labels(sizes), rotation=45, ha="right")
        axis.minorticks_off()
        axis.set_xlabel("N, images per Gaussian")
        axis.set_ylabel("average position")
        axis.set_title("all N" if most > SMALL else f"N ≤ {SMALL:,}", fontsize=10)
        axis.legend(fontsize=8)
    save_picture(figure, file, dpi=150)


def _labels(sizes: list[int]) -> list[str]:
    """Return the labels of a logarithmic axis's ticks; a label too close to the next one is
    empty."""
    following = [*sizes[1:], math.inf]
    return [f"{n:,}" if after > 1.3 * n else "" for n, after in zip(sizes, following, strict=True)]


def draw_nt_search(rows: pd.DataFrame, file: pathlib.Path, title: str) -> None:
    """Draw the best accuracy against paths evaluated, for the search and for its kernels, and the
    paths needed."""
    figure = Figure(figsize=(14, 4.4), layout="constrained")
    figure.suptitle(title, fontsize=10)
    search, kernels, needed = figure.subplots(1, 3)
    _draw_curves(search, rows, ("BO_l2", "BO_l2_r", "RS"), "the search")
    others = [f"BO_{kernel}_r" for kernel in nt_search.KERNELS]
    _draw_curves(kernels, rows, ("BO_l2_r", *others), "its kernel")
    _draw_needed(needed, rows)
    save_picture(figure, file, dpi=150)


def _draw_curves(axis: Any, rows: pd.DataFrame, methods: Iterable[str], title: str) -> None:
    curves = 100 * nt_search.curves(rows)
    for method in methods:
        runs, style = curves.loc[method], list(nt_search.METHODS).index(method)
        _band(axis, runs.mean(), runs.sem().fillna(0.0), method, style)
    axis.set_xlabel("paths evaluated")
    axis.set_ylabel("best validation accuracy, %")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_title(title, fontsize=10)
    axis.legend(fontsize=8, loc="lower right")


def _draw_needed(axis: Any, rows: pd.DataFrame) -> None:
    paths = nt_search.stopping(rows).groupby("method", sort=False)["paths"]
    mean = paths.mean()
    axis.barh(mean.index, mean, xerr=paths.sem().fillna(0.0), color=COLOURS, alpha=0.6, capsize=3)
    axis.invert_yaxis()
    axis.set_xlabel("paths until it stopped")
    axis.set_title("early stopping", fontsize=10)


def _band(
    axis: Any, mean: pd.Series, error: pd.Series, label: str, style: int, **more: Any
) -> None:
    colour, dashes = COLOURS[style], DASHES[style % len(DASHES)]
    axis.plot(mean.index, mean, dashes, color=colour, label=label, markersize=3, **more)
    axis.fill_between(mean.index, mean - error, mean + error, color=colour, alpha=0.2, lw=0)
    axis.grid(alpha=0.3)
