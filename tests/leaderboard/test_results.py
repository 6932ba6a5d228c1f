"""Rows, tables and pictures from records made by hand."""

from __future__ import annotations

import csv
import io
import os
import pathlib
import subprocess
import sys

import pytest

from bell_bench_leaderboard import COLUMNS, summary_table, to_csv
from bell_bench_leaderboard.heat_map import draw_leaderboard
from tests.leaderboard.making import record, result_rows


def test_figures_by_hand():
    rows = result_rows([record(final=(0.7, 0.8)), record("sa", final=(0.9, 0.6))])
    assert rows[0]["A"] == pytest.approx(75)
    assert rows[0]["F"] == pytest.approx(-10)
    assert rows[0]["Tr_last"] == pytest.approx(20)
    assert rows[0]["updates"] == 200
    assert rows[0]["stored_mb"] == 1
    assert rows[0]["peak_memory_mb"] == 3


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"scale": "paper"}, {"protocol": "authors-code"}, {"data": "images"},
               {"realisation_seed": 31}, {"suite_version": "2"}, {"data_hash": "y"}]
)  # fmt: skip
def test_transfer_is_measured_against_the_same_problems_only(change):
    rows = result_rows([record(), record("sa", **change)])
    assert rows[0]["Tr_last"] is None


def test_what_is_not_done_has_no_score_and_is_not_averaged_away():
    rows = result_rows([record(), record(status="timeout", seed=1)])
    assert rows[1]["A"] is None
    assert rows[1]["updates"] == 200, "its cost is known all the same"
    table = summary_table(rows)
    assert "timeout" in table
    assert "1/2" in table


def test_unlike_settings_are_shown_apart():
    table = summary_table(result_rows([record(), record(scale="paper")]))
    assert table.count("sequence") == 2


def test_csv_has_the_promised_columns_and_blanks():
    text = to_csv(result_rows([record(status="failed")]))
    (row,) = csv.DictReader(io.StringIO(text))
    assert tuple(row) == COLUMNS
    assert row["A"] == ""
    assert row["status"] == "failed"


def test_a_picture_with_missing_cells(tmp_path):
    rows = result_rows([record(), record("sa"), record("x", status="failed")])
    draw_leaderboard(rows, tmp_path / "board.png")
    assert (tmp_path / "board.png").read_bytes().startswith(b"\x89PNG")


def test_the_leaderboard_imports_nothing_heavy():
    heavy = {"torch", "pandas", "scipy", "matplotlib", "bell_bench.plugins", "bell_bench.harness"}
    code = f"import sys, bell_bench_leaderboard; sys.exit(bool({heavy} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({"options": {"k": 40}}, "picle [k=40]"),
        ({"provider": "other 1.0"}, "picle [provider=other 1.0]"),
        ({"threads": 2}, "picle [threads=2]"),
    ],
)
def test_unlike_jobs_of_one_algorithm_are_not_averaged(change, label):
    rows = result_rows([record(options={"k": 20}), record(**{"options": {"k": 20}, **change})])
    table = summary_table(rows)
    assert label in table
    assert [line.split()[-1] for line in table.splitlines()[2:4]] == ["1", "1"]


def test_somebody_elses_sa_is_no_yardstick():
    rows = result_rows([record(), record("sa", provider="other 1.0")])
    assert rows[0]["Tr_last"] is None


@pytest.mark.parametrize(
    ("reason", "cell"),
    [("=1+1", "'=1+1"), ("@x", "'@x"), ("+x", "'+x"), ("-x", "'-x"), ("a=1", "a=1"),
     ("\x1b[2J", r"\x1b[2J"), ("\t=1", r"\t=1")],
)  # fmt: skip
def test_a_records_text_is_no_formula_and_steers_nothing(reason, cell):
    """Numbers stay numbers, also below zero."""
    failed = {**record("b", status="failed"), "reason": reason}
    rows = list(
        csv.DictReader(io.StringIO(to_csv(result_rows([record(final=(0.7, 0.8)), failed]))))
    )
    assert rows[1]["reason"] == cell
    assert float(rows[0]["F"]) == pytest.approx(-10)


NEW_SCORE = """
from bell_bench import records
from bell_bench.records import costs, scores
scores.SCORES += (
    scores.Score("worst", "worst", "the lowest", lambda of: 100 * min(of.final), signed=False),
    scores.Score("halfway", "halfway", "of the matrix", lambda of: 100 * of.matrix[0][0]),
)
costs.COSTS += (
    costs.Cost("joules", "joules", "energy", lambda used, job: 5 * used.wall_s, summary=True,
               traded=True),
)
records.SCORES, records.COSTS = scores.SCORES, costs.COSTS
import pathlib
from bell_bench_leaderboard.results import Results
from tests.leaderboard.making import read, record
made = [record(final=(0.7, 0.8)), record("sa", final=(0.9, 0.6))]
for each in made:
    each["matrix"] = [[0.5], [0.6, 0.7]]
results = Results(list(map(read, made)), pathlib.Path())
assert list(results.to_pandas()["worst"]) == [70, 60]
assert sorted(results.leaderboard()["worst"]) == [60, 70]
for form in ("summary", "wide", "long"):
    assert "worst" in results.table(form, markup="markdown"), form
assert list(results.to_pandas()["halfway"]) == [50, 50]
assert list(results.to_pandas()["joules"]) == [20, 20]
assert list(results.leaderboard()["joules"]) == [20, 20]
assert "joules" in results.table("summary") and "joules" in results.costs()
results.page("page.html")
page = pathlib.Path("page.html").read_text()
assert '"worst":{"title":"worst"' in page and '"joules":{"title":"joules"' in page
from bell_bench_submissions.figures import all_scores
jobs = {each.job.algorithm: each for each in results.records}
done = {name: scores.JobAccuracies.of(each) for name, each in jobs.items()}
claims = all_scores({name: each.job for name, each in jobs.items()}, done)
assert claims["picle"]["worst"] == 70 and claims["sa"]["halfway"] == 50
"""


def test_a_new_score_or_cost_is_one_line_and_is_everywhere(tmp_path):
    """In a process of its own, as columns follow from scores and costs when they are imported."""
    path = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", NEW_SCORE], cwd=tmp_path, env=path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
