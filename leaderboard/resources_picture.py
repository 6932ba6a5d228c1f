"""A picture of what each problem of a sequence costs, in FLOPs and peak memory, as the paper draws
it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.errors import UsageError
from bell_bench.pictures import save_picture
from bell_bench.records import LONG, Record, Resources
from bell_bench_leaderboard.boards import labels
from bell_bench_leaderboard.rows import result_row

Panel = tuple[Callable[[Resources], float], str, str]
"""The cost of a problem that is drawn, the title, and the kind of axis."""
PANELS: tuple[Panel, ...] = (
    (lambda used: used.train_flops / 1e12, "training FLOPs per problem, in trillions", "log"),
    (lambda used: used.inference_flops / 1e12, "other FLOPs per problem, in trillions", "log"),
    (lambda used: used.peak_memory_bytes / 1024**2, "peak memory per problem, in MiB", "linear"),
)
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The colours of Okabe and Ito, which colour-blind readers can tell apart; the lines differ in
style too."""
STYLES = ("-", "--", "-.", ":")
SMOOTH = 9
"""Problems differ in size by chance, so the thick line is the mean over this many neighbours."""
LEGEND = 150
"""The number of characters that fit side by side under the panels."""

Curves = dict[str, NDArray[np.float64]]
"""For each algorithm an array of jobs (realisations and seeds) × problems."""


def draw_resources(records: Iterable[Record], file: pathlib.Path) -> str:
    """Draw the costs along long sequences, and return the names of the sequences.

    Every long sequence among the records is drawn, or the longest if none is long; each of its
    settings has a row of panels. The thin line is the mean over jobs, in a band from the lowest to
    the highest; the thick line is smoothed.
    """
    from matplotlib.figure import Figure

    rows = _rows(list(records))
    figure = Figure(figsize=(13, 0.4 + 3.8 * len(rows)), layout="constrained")
    styles: dict[str, dict[str, Any]] = {}
    handles: dict[str, Any] = {}
    for part, jobs in zip(figure.subfigures(len(rows), 1, squeeze=False).flat, rows, strict=True):
        axes = part.subplots(1, len(PANELS))
        for axis, panel in zip(axes, PANELS, strict=True):
            _draw_panel(axis, jobs, panel, styles)
        part.suptitle(_title(jobs), fontsize=10)
        lines, names = axes[0].get_legend_handles_labels()
        handles |= zip(names, lines, strict=True)
    columns = max(1, min(len(handles), LEGEND // (max(map(len, handles)) + 8)))
    figure.legend(list(handles.values()), list(handles), loc="outside lower center",
                  ncols=columns, fontsize=9)  # fmt: skip
    save_picture(figure, file, dpi=130)
    return ", ".join(dict.fromkeys(jobs[0].job.sequence for jobs in rows))


def _rows(records: list[Record]) -> list[list[Record]]:
    """Return the done jobs, one list for each sequence and setting to draw."""
    done = [record for record in records if record.done]
    if not done:
        raise UsageError("no algorithm has completed a sequence here: nothing to draw")
    longest = max(done, key=lambda record: len(record.problems)).job.sequence
    found: dict[tuple[Any, ...], list[Record]] = {}
    for record in done:
        job = record.job
        if job.sequence == longest or len(record.problems) > LONG:
            found.setdefault((job.sequence, *job.setting), []).append(record)
    return list(found.values())


def _draw_panel(axis: Any, jobs: list[Record], panel: Panel, styles: dict[str, Any]) -> None:
    """Draw one cost for all algorithms; an algorithm has the same style in every row."""
    of, title, kind = panel
    curves = _curves(jobs, of)
    for label, values in curves.items():
        place = len(styles)
        style = styles.setdefault(label, {"color": COLOURS[place % len(COLOURS)],
                                          "linestyle": STYLES[place % len(STYLES)]})  # fmt: skip
        _draw(axis, label, values, style, logarithmic=kind == "log")
    axis.set_yscale(kind if any((values > 0).any() for values in curves.values()) else "linear")
    axis.set_xlabel("problem")
    axis.set_title(title, fontsize=10)
    axis.grid(alpha=0.25)
    axis.margins(x=0.01)


def _curves(jobs: list[Record], of: Callable[[Resources], float]) -> Curves:
    found: dict[str, list[list[float]]] = {}
    names = labels([result_row(record, None) for record in jobs])
    for label, record in zip(names, jobs, strict=True):
        values = [of(problem.resources) for problem in record.problems]
        found.setdefault(label, []).append(values)
    return {label: np.array(values) for label, values in found.items()}


def _draw(
    axis: Any, label: str, values: Any, style: Mapping[str, Any], *, logarithmic: bool
) -> None:
    problems = np.arange(1, values.shape[1] + 1)
    if logarithmic:
        values = np.where(values > 0, values, np.nan)  # a logarithmic axis has no place for 0
    mean = values.mean(axis=0)
    smooth = _smoothed(np.log(mean)) if logarithmic else _smoothed(mean)
    long = len(problems) > 2 * SMOOTH
    axis.plot(problems, mean, linewidth=0.7 if long else 1.8, alpha=0.5 if long else 1, **style,
              label=None if long else label)  # fmt: skip
    if long:
        axis.plot(problems, np.exp(smooth) if logarithmic else smooth, linewidth=2.2, **style,
                  label=label)  # fmt: skip
    if len(values) > 1:
        axis.fill_between(
            problems, values.min(axis=0), values.max(axis=0), color=style["color"], alpha=0.12,
            linewidth=0,
        )  # fmt: skip


def _smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over neighbours; near the ends, over fewer of them."""
    window = np.ones(SMOOTH)
    return np.convolve(values, window, "same") / np.convolve(np.ones_like(values), window, "same")


def _title(jobs: list[Record]) -> str:
    job = jobs[0].job
    count = len({(record.job.realisation, record.job.seed) for record in jobs})
    over = f"mean and range over {count} runs" if count > 1 else "one run"
    where = f"{job.suite} at {job.scale}, {job.images}, {job.protocol}"
    return f"{job.sequence}, {where}: {over}"
