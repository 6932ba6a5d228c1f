"""``bell-bench ablate``: the paper's two ablations of PICLE."""

from __future__ import annotations

import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from bell_bench.cli.output import table
from bell_bench.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_ABLATIONS = "bell_bench_algorithms.picle.ablations"
"""Of an algorithm, so loaded by name, as algorithms are."""


def _options(seeds: int, prefix: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """What both ablations can be told."""
    file = click.Path(path_type=pathlib.Path, dir_okay=False)
    folder = click.Path(path_type=pathlib.Path, file_okay=False)
    options = (
        click.option(
            "--scale", default="quick", show_default=True, help="quick, standard or paper."
        ),
        click.option("--data", default="glyphs", show_default=True, help="glyphs or images."),
        click.option(
            "--seeds",
            type=click.IntRange(min=1),
            default=seeds,
            show_default=True,
            metavar="N",
            help="Repeat with N seeds.",
        ),
        click.option(
            "--out", type=folder, default="runs", show_default=True, help="The folder of results."
        ),
        click.option(
            "--csv", "csv_file", type=file, help=f"The table.  [default: OUT/{prefix}.csv]"
        ),
        click.option(
            "--plot", "plot_file", type=file, help=f"The figure.  [default: OUT/{prefix}.png]"
        ),
    )

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@click.group("ablate")
def command() -> None:
    """Measure PICLE's parts against alternatives, as the paper's appendix does."""


@command.command("density")
@_options(seeds=5, prefix="ablate-density")
def density(
    scale: str,
    data: str,
    seeds: int,
    out: pathlib.Path,
    csv_file: pathlib.Path | None,
    plot_file: pathlib.Path | None,
) -> None:
    """Which Gaussian of N images knows its own domain among nine?

    Prints the average position of the true domain (0: always first) by method and N, with the
    standard error over seeds. N goes as far as the scale's images do; --scale paper has them all.
    """
    csv_file = csv_file or out / "ablate-density.csv"
    plot_file = plot_file or out / "ablate-density.png"
    _check(csv_file, plot_file)
    with _progress() as tell:
        rows = _load("density:run")(scale=scale, data=data, seeds=seeds, tell=tell)
    title = f"Average position of the true domain among nine ({data}, {scale})"
    click.echo(f"{title}, {seeds} seeds")
    found = rows.groupby(["N", "method"], sort=False)["average_position"]
    mean, error = found.mean().unstack(), found.sem().fillna(0.0).unstack()
    methods = list(mean.columns)
    click.echo(
        table(
            ([n, *(_with_error(mean[m][n], error[m][n], 2) for m in methods)] for n in mean.index),
            ["N", *methods],
        )
    )
    _write(rows, csv_file)
    _load("plots:draw_density")(rows, plot_file, title)
    click.echo(f"wrote {plot_file}")


@command.command("nt-search")
@_options(seeds=10, prefix="ablate-nt-search")
@click.option(
    "--realisations",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="The first N realisations of S_in_plus.",
)
@click.option("--protocol", default="paper", show_default=True, help="paper or authors-code.")
def nt_search(
    scale: str,
    data: str,
    seeds: int,
    out: pathlib.Path,
    csv_file: pathlib.Path | None,
    plot_file: pathlib.Path | None,
    realisations: int,
    protocol: str,
) -> None:
    """How soon does the search for latent transfer find the best suffix?

    On S_in_plus, all paths that a search may ask for are trained once, through the evaluation
    store that `evaluate` uses: the same command goes on where it was stopped. Every search is
    then replayed on what was found.
    """
    csv_file = csv_file or out / "ablate-nt-search.csv"
    plot_file = plot_file or out / "ablate-nt-search.png"
    _check(csv_file, plot_file)
    with _progress() as tell:
        rows = _load("nt_search:run")(
            realisations=realisations,
            scale=scale,
            data=data,
            protocol=protocol,
            seeds=seeds,
            out=out,
            tell=tell,
        )
    stopping, curves = _load("nt_search:stopping")(rows), 100 * _load("nt_search:curves")(rows)
    title = f"Search for latent transfer on S_in_plus ({data}, {scale}, {protocol})"
    click.echo(f"{title}, {realisations} realisations, {seeds} seeds")
    click.echo(_search_table(stopping, curves))
    _write(rows, csv_file)
    _write(stopping, csv_file.with_name(f"{csv_file.stem}-stopping{csv_file.suffix}"))
    _load("plots:draw_nt_search")(rows, plot_file, title)
    click.echo(f"wrote {plot_file}")


def _search_table(stopping: pd.DataFrame, curves: pd.DataFrame) -> str:
    """Paths needed and accuracies in per cent, by method."""
    shown = [paths for paths in (2, 4, 6, 8) if paths in curves.columns]
    lines = []
    for method, runs in stopping.groupby("method", sort=False):
        own = curves.loc[[method]]
        needed = _with_error(runs["paths"].mean(), runs["paths"].sem(), 1)
        reached = [_with_error(own[paths].mean(), own[paths].sem(), 1) for paths in shown]
        best = _with_error(100 * runs["best_accuracy"].mean(), 100 * runs["best_accuracy"].sem(), 1)
        lines.append([method, len(runs), needed, *reached, best])
    after = [f"best after {paths}" for paths in shown]
    highest = 100 * stopping.groupby("realisation")["highest_accuracy"].first().mean()
    headers = ["method", "runs", "paths until it stopped", *after, f"at its end (of {highest:.1f})"]
    return table(lines, headers)


def _with_error(mean: float, error: float, digits: int) -> str:
    """Mean and standard error; none of a single run."""
    return f"{mean:.{digits}f}" + (f" ± {error:.{digits}f}" if error == error else "")


def _load(name: str) -> Any:
    from bell_bench.plugins import load_object

    return load_object(f"{_ABLATIONS}.{name}")


def _check(csv_file: pathlib.Path, plot_file: pathlib.Path) -> None:
    """Find before the work what would spoil it at its end."""
    for option, file in (("--csv", csv_file), ("--plot", plot_file)):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{option} {file}: its folder cannot be made: {error}") from error
        if not os.access(file.parent, os.W_OK):
            raise UsageError(f"{option} {file}: its folder cannot be written to")
    _load("plots:check_file")(plot_file)


def _write(rows: pd.DataFrame, file: pathlib.Path) -> None:
    from bell_bench.files import write_whole

    write_whole(file, rows.to_csv(index=False).encode())
    click.echo(f"wrote {file}")


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on a terminal's standard error; elsewhere a line every so often."""
    from rich.console import Console
    from rich.progress import Progress, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    with Progress(
        *Progress.get_default_columns()[:-1], TimeRemainingColumn(), console=console, transient=True
    ) as bars:
        task = bars.add_task("starting", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bars.update(task, description=what, completed=done, total=total)

        yield tell


class _Lines:
    """Plain progress: a line when it begins, ends, and at most one every few seconds."""

    SECONDS = 5.0

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self.last >= self.SECONDS:
            self.last = now
            print(f"{done}/{total}  {what}", file=sys.stderr, flush=True)
