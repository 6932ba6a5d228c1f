"""The Python functions behind ``bell-bench reproduce`` and ``ablate``.

The ablations load torch and pandas, and the reproduction loads numpy. The functions import them, so
that ``--help`` does not.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bell_bench import cpu_determinism
from bell_bench.api import File, several
from bell_bench.harness.progress import Tell, silent
from bell_bench.harness.ranges import MOST_REALISATIONS, check_number
from bell_bench.text import table

if TYPE_CHECKING:
    import pandas as pd

    from bell_bench_paper.reproduction import Reproduction


@dataclass(frozen=True, eq=False, repr=False)
class Ablation:
    """The results of an ablation. Printed, it is what ``bell-bench ablate`` prints."""

    rows: pd.DataFrame
    text: str
    stopping: pd.DataFrame | None = None
    """For searches: one row per run, with the paths until it stopped and the best that it found."""

    def to_csv(self, file: str | pathlib.Path) -> list[pathlib.Path]:
        """Write the rows, and a second file with where searches stopped; return the files."""
        from bell_bench_paper.ablations.tables import write_csv

        target = pathlib.Path(file)
        tables = {target: self.rows}
        if self.stopping is not None:
            tables[target.with_stem(f"{target.stem}-stopping")] = self.stopping
        for place, rows in tables.items():
            write_csv(rows, place)
        return list(tables)

    def __repr__(self) -> str:
        return self.text


def ablate_density(
    *,
    scale: str = "quick",
    data: str = "glyphs",
    seeds: int = 5,
    plot: File | None = None,
    tell: Tell = silent,
) -> Ablation:
    """Measure which Gaussian of N images recognises its own domain among nine.

    ``plot`` is the file for the figure.
    """
    from bell_bench_paper.ablations import density, plots, tables

    check_number("--seeds", seeds, 1)
    cpu_determinism.hold()
    rows = density.run(scale=scale, data=data, seeds=seeds, tell=tell)
    title = tables.density_title(data, scale)
    if plot is not None:
        plots.draw_density(rows, pathlib.Path(plot), title)
    headers, lines = tables.density_summary(rows)
    return Ablation(rows, f"{title}, {seeds} seeds\n{table(lines, headers)}")


def ablate_nt_search(
    *,
    realisations: int = 5,
    scale: str = "quick",
    data: str = "glyphs",
    protocol: str = "paper",
    seeds: int = 10,
    out: File = "runs",
    plot: File | None = None,
    tell: Tell = silent,
) -> Ablation:
    """Measure how soon the search for latent transfer finds the best suffix, and where it stops.

    Paths are trained once and kept in ``out``; ``plot`` is the file for the figure.
    """
    from bell_bench_paper.ablations import nt_search, plots, tables

    check_number("--seeds", seeds, 1)
    check_number("--realisations", realisations, 1, MOST_REALISATIONS)
    cpu_determinism.hold()
    rows = nt_search.run(
        realisations=realisations,
        scale=scale,
        data=data,
        protocol=protocol,
        seeds=seeds,
        out=pathlib.Path(out),
        tell=tell,
    )
    title = tables.nt_search_title(data, scale, protocol)
    if plot is not None:
        plots.draw_nt_search(rows, pathlib.Path(plot), title)
    headers, lines = tables.nt_search_summary(rows)
    text = f"{title}, {realisations} realisations, {seeds} seeds\n{table(lines, headers)}"
    return Ablation(rows, text, nt_search.stopping(rows))


def reproduce(
    part: str = "all",
    *,
    scale: str | None = None,
    data: str | None = None,
    algorithms: str | Iterable[str] = (),
    sequences: str | Iterable[str] = (),
    realisations: Iterable[int] = (),
    jobs: int | None = None,
    out: File = "runs",
    given: Iterable[File] = (),
    run: bool = True,
    claims: File | None = None,
    quiet: bool = False,
) -> Reproduction:
    """Run what a part of the paper (bell, ctrl, scale, ablations or all) needs, and judge its
    claims.

    Results that are already in ``out``, or in the submissions and folders ``given``, are not run
    again; with ``run=False`` nothing is run. Algorithms, sequences and realisations restrict the
    runs. ``claims`` is a JSON file to use in place of our claims.
    """
    from bell_bench_paper import reproduction

    scope = reproduction.Scope(
        scale, data, several(algorithms), several(sequences), tuple(realisations)
    )
    return reproduction.reproduce(
        part,
        scope,
        out=pathlib.Path(out),
        given=[pathlib.Path(each) for each in given],
        workers=jobs,
        run=run,
        file=None if claims is None else pathlib.Path(claims),
        quiet=quiet,
    )
