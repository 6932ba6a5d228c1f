"""Figures and tables from stored records. Importing this loads neither torch nor anything else
heavy of bell_bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bell_bench.lazy import lazy_names

if TYPE_CHECKING:
    from bell_bench_leaderboard.results import Results
    from bell_bench_leaderboard.rows import COLUMNS, result_rows, to_csv
    from bell_bench_leaderboard.tables import summary_table

__all__ = ["COLUMNS", "Results", "result_rows", "summary_table", "to_csv"]

__getattr__ = lazy_names(
    __name__,
    {
        "COLUMNS": "bell_bench_leaderboard.rows",
        "Results": "bell_bench_leaderboard.results",
        "result_rows": "bell_bench_leaderboard.rows",
        "summary_table": "bell_bench_leaderboard.tables",
        "to_csv": "bell_bench_leaderboard.rows",
    },
)
