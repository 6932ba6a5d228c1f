"""From stored records to figures and tables. Imports no torch, nothing heavy of bell_bench."""

from bell_bench.records import read_records
from bell_bench_leaderboard.results import COLUMNS, result_rows, to_csv
from bell_bench_leaderboard.tables import summary_table

__all__ = ["COLUMNS", "read_records", "result_rows", "summary_table", "to_csv"]
