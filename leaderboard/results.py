"""The results of runs in Python: records, one row per job, tables. Importing this loads neither
numpy nor pandas."""

from __future__ import annotations

import functools
import html
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bell_bench.errors import UsageError, unknown
from bell_bench.files import write_whole
from bell_bench.records import COSTS, SCORES
from bell_bench_leaderboard.rows import COLUMNS, Row, result_rows, to_csv

if TYPE_CHECKING:  # boards and tables load numpy; functions import them when they need them
    import pandas as pd

    from bell_bench.records import ReadRecord
    from bell_bench_leaderboard.boards import Board, Cell
    from bell_bench_leaderboard.grids import Grid

ENDED_WELL = ("done", "unsupported")
"""The statuses of a job that nothing has to be done about."""


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The jobs of one or several runs. Printed, it is the leaderboard's table and the failed
    jobs."""

    records: Sequence[ReadRecord]
    """One record per job, as in its ``record.json``. In addition, ``place`` says where its files
    are, and ``check`` says where its accuracies come from."""
    folder: pathlib.Path
    """The folder of the job folders, which hold logs and raw predictions."""
    current_versions: Mapping[str, str] = field(default_factory=dict)
    """The installed version of each suite; a suite that is not installed is left out."""
    text: str = ""
    """If not empty, what is printed in place of the table: what ``bell-bench show`` prints."""

    @functools.cached_property
    def rows(self) -> list[Row]:
        """One row per job: settings, status, A, F, Tr⁻¹ and costs; what ``--csv`` writes."""
        return result_rows(self.records)

    @functools.cached_property
    def _boards(self) -> list[Board]:
        """One board for each group of jobs with equal settings."""

        from bell_bench_leaderboard.boards import boards

        found: list[Board] = boards(self.rows)
        return found

    @property
    def failed(self) -> list[ReadRecord]:
        """The records of jobs that failed, ran out of time or memory, or were interrupted."""
        return [record for record in self.records if record.status not in ENDED_WELL]

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per job, with the columns of the CSV."""
        import pandas as pd

        table: pd.DataFrame = pd.DataFrame(self.rows, columns=pd.Index(COLUMNS))
        return table

    def to_csv(self, file: str | pathlib.Path) -> None:
        """Write one row per job to a file."""
        write_whole(pathlib.Path(file), to_csv(self.rows).encode())

    def leaderboard(self) -> pd.DataFrame:
        """Return the means over realisations and seeds, one row per sequence and algorithm.

        ``n`` is the number of jobs. If one of them is not done, ``status`` says so and nothing is
        averaged. Only runs with equal settings are averaged.
        """
        import pandas as pd

        lines = [
            {"sequence": sequence, "algorithm": name, **_figures(cell), **board.settings}
            for board in self._boards
            for (sequence, name), cell in board.cells.items()
            if cell.jobs
        ]
        table: pd.DataFrame = pd.DataFrame(lines)
        return table

    def table(
        self, form: str = "summary", *, markup: str = "text", baseline: str | None = None
    ) -> str:
        """Return the leaderboard as text, markdown, latex or csv: summary, wide (as in the paper)
        or long.

        ``baseline`` adds paired differences in A to that algorithm, where the form has room for
        them. A CSV holds only one setting: ask for one table per setting.
        """
        from bell_bench_leaderboard import grids, tables

        makers: dict[str, Callable[[Board], Grid]] = {
            "summary": lambda board: tables.summary_grid(board, baseline=baseline),
            "wide": lambda board: tables.wide_grid(board, baseline=baseline),
            "long": tables.long_grid,
        }
        markups = {"text": grids.to_text, "markdown": grids.to_markdown, "latex": grids.to_latex,
                   "csv": grids.to_csv}  # fmt: skip
        known = {name for board in self._boards for name in board.algorithms}
        for kind, asked, choices in (
            ("form", form, makers),
            ("markup", markup, markups),
            ("algorithm of these runs", baseline, known),
        ):
            if asked is not None and asked not in choices:
                raise unknown(kind, asked, choices)
        if markup == "csv":
            self._check_one_setting()
        between = "\n\n" if markup == "text" else "\n"
        return between.join(markups[markup](makers[form](board)) for board in self._boards)

    def _check_one_setting(self) -> None:
        if len(self._boards) > 1:
            raise UsageError(
                "these runs differ in suite, version, scale, data or protocol: such a file holds "
                "one setting. Make one file for each setting"
            )

    def costs(self) -> str:
        """Return the tables of costs with Pareto fronts, and of scores at equal budget, as text."""
        from bell_bench_leaderboard.costs import budget_grid, cost_grid
        from bell_bench_leaderboard.grids import to_text

        makers = (cost_grid, budget_grid)
        return "\n\n".join(to_text(make(board)) for board in self._boards for make in makers)

    def properties(self, rules: str | pathlib.Path | None = None, tuned: Iterable[str] = ()) -> str:
        """Return the observed properties as text, by our rules or those of a JSON file.

        ``tuned`` changes single rules, for example ``"latent.threshold=2"``.
        """
        from bell_bench_leaderboard.grids import to_text
        from bell_bench_leaderboard.properties import property_grids, read_rules

        judged = read_rules(None if rules is None else pathlib.Path(rules), tuned)
        found = (grid for board in self._boards for grid in property_grids(board, judged))
        return "\n\n".join(map(to_text, found))

    def check_rules(
        self, rules: str | pathlib.Path | None = None, tuned: Iterable[str] = ()
    ) -> None:
        """Raise UsageError if the rules or the changes to them are not valid."""
        from bell_bench_leaderboard.properties import read_rules

        read_rules(None if rules is None else pathlib.Path(rules), tuned)

    def page(
        self,
        file: str | pathlib.Path,
        *,
        rules: str | pathlib.Path | None = None,
        tuned: Iterable[str] = (),
    ) -> None:
        """Write the leaderboard as a page: one HTML file that needs nothing else. The rules are as
        for ``properties``."""
        from bell_bench_leaderboard.page import make_page
        from bell_bench_leaderboard.properties import read_rules

        judged = read_rules(None if rules is None else pathlib.Path(rules), tuned)
        page = make_page(self.records, judged, current=self.current_versions)
        write_whole(pathlib.Path(file), page.encode())

    def draw(self, file: str | pathlib.Path) -> None:
        """Draw accuracy and transfer, sequences by algorithms, as a PNG; the results must be of one
        setting."""
        from bell_bench_leaderboard.heat_map import draw_leaderboard

        self._check_one_setting()
        draw_leaderboard(self.rows, pathlib.Path(file))

    def draw_resources(self, file: str | pathlib.Path) -> str:
        """Draw the FLOPs and peak memory per problem of every long sequence; return the sequences'
        names."""
        from bell_bench_leaderboard.resources_picture import draw_resources

        name: str = draw_resources(self.records, pathlib.Path(file))
        return name

    def faults(self) -> list[str]:
        """Return a line per failed job: its name, what happened, and where its log is."""
        told = []
        for record in self.failed:
            name = record.job.name
            log = self.folder / name / "log.txt"
            where = f"\n  log: {log}" if log.is_file() else ""
            told.append(f"{name}: {record.status}: {record.reason}{where}")
        return told

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        from bell_bench_leaderboard import summary_table

        if self.text:
            return self.text
        if not self.records:
            return f"no results in {self.folder}"
        return "\n".join([summary_table(self.rows), *self.faults()])

    def _repr_html_(self) -> str:
        """Return the leaderboard as a table for notebooks."""
        if self.text or not self.records:
            return f"<pre>{html.escape(repr(self))}</pre>"
        table = self.leaderboard().to_html(
            index=False, float_format="{:.4g}".format, na_rep="–", border=0
        )
        faults = "".join(f"<pre>{html.escape(fault)}</pre>" for fault in self.faults())
        return f"{table}{faults}"


def _figures(cell: Cell) -> dict[str, Any]:
    """Return a cell's averages; they are None if a job is not done."""
    scores = (score.name for score in SCORES if score.shown)
    costs = (cost.name for cost in COSTS if cost.summary or cost.traded)
    averaged = (*scores, *costs)
    values = {name: cell.values(name) for name in averaged}
    means = {name: None if found is None else found.mean() for name, found in values.items()}
    return {**means, "status": cell.status or "done", "n": cell.done}
