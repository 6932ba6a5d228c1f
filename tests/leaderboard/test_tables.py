"""Tables: missing cells, averages that say what they lack, the best, every format."""

from __future__ import annotations

import csv
import io
import re

import pytest

from bell_bench_leaderboard.boards import boards
from bell_bench_leaderboard.grids import Grid, Value, number, to_csv, to_latex, to_markdown, to_text
from bell_bench_leaderboard.tables import long_grid, summary_grid, wide_grid
from tests.leaderboard.making import record, result_rows, series


def board(*records):
    (found,) = boards(result_rows(records))
    return found


@pytest.fixture
def holey():
    """Two sequences; b failed one job of the first and has nothing of the second."""
    failed = record("b", status="timeout", realisation=2, realisation_seed=32, learnt=(0.5,))
    return board(
        *series("sa", (0.5, 0.6, 0.7)), *series("a", (0.6, 0.7, 0.9)),
        *series("b", (0.6, 0.7)), failed,
        *series("sa", (0.5, 0.6, 0.7), sequence="S_in"),
        *series("a", (0.5, 0.6, 0.7), sequence="S_in"),
    )  # fmt: skip


def line(grid, *names):
    (found,) = [row for row in grid.rows if tuple(cell.text for cell in row[: len(names)]) == names]
    return found


def test_missing_and_failed_jobs_are_cells_with_their_status(holey):
    grid = summary_grid(holey)
    assert line(grid, "S_pl", "b")[2].text == "timeout 1 of 3"
    assert line(grid, "S_pl", "b")[-1].text == "2/3"
    assert line(grid, "S_in", "b")[2].text == "missing"
    wide = wide_grid(holey)
    place = wide.header.index("b")
    assert line(wide, "A", "S_pl")[place].text == "timeout 1 of 3"
    assert line(wide, "A", "S_in")[place].text == "missing"


def test_an_average_over_incomplete_rows_says_so(holey):
    extra = series("b", (0.9, 0.9, 0.9), sequence="S_in")
    rows = [dict(row) for row in holey.rows] + result_rows(extra)
    (whole,) = boards(rows)
    grid = summary_grid(whole)
    average = line(grid, "all", "b")
    assert average[2].text == "90.00 (1 of 2)"
    assert average[grid.header.index("rank")].text == "–"
    assert average[-1].text == "5/6"
    wide = wide_grid(whole)
    assert not line(wide, "A", "Avg.")[wide.header.index("b")].best, "it left out what it failed"


def test_the_best_of_a_row_is_marked_and_ties_are_ties():
    here = board(*series("a", (0.5, 0.7)), *series("b", (0.6, 0.6)), *series("c", (0.1, 0.2)))
    best = [cell.best for cell in line(wide_grid(here), "A", "S_pl")[2:]]
    assert best == [True, True, False]


def test_nobody_is_best_where_all_are_equal():
    here = board(*series("a", (0.5, 0.7)), *series("b", (0.5, 0.7)))
    assert not any(cell.best for row in wide_grid(here).rows for cell in row)


def test_a_baseline_adds_paired_differences(holey):
    grid = summary_grid(holey, baseline="sa")
    cell = line(grid, "S_pl", "a")[grid.header.index("A − sa")]
    assert cell.text == "+13.33"
    assert cell.low
    wide = {row[0].text for row in wide_grid(holey, baseline="sa").rows}
    assert {"A − sa", "F − sa", "Tr⁻¹ − sa"} <= wide


def test_one_realisation_says_that_no_interval_can_be_given():
    grid = summary_grid(board(record()))
    assert "no interval can be given" in grid.notes[0]
    assert not any(cell.low for row in grid.rows for cell in row)


def test_every_mean_has_an_interval(holey):
    for row in wide_grid(holey).rows:
        for cell in row[2:]:
            assert bool(cell.low) == bool(re.fullmatch(r"[+-]?\d+\.\d+", cell.text)), cell


def test_a_mismatch_is_told_below_the_table():
    bad = record(status="mismatch") | {"check": "mismatch", "reason": "A was edited"}
    assert any("A was edited" in note for note in summary_grid(board(bad, record("sa"))).notes)


def test_the_yardstick_comes_first_and_old_results_are_told_apart():
    old, new = record("a"), record("a", seed=1)
    del old["job"]["software"]
    here = board(old, new, record("sa"))
    assert here.algorithms[0] == "sa"
    assert "a [software not recorded]" in here.algorithms


def test_versions_of_a_suite_are_not_compared():
    found = boards(result_rows([record(), record(suite_version="2", seed=1)]))
    assert [each.title for each in found] == [
        f"suite bell (version {version})  scale quick  data glyphs  protocol paper"
        for version in "12"
    ]


def test_a_name_cannot_steer_the_terminal():
    text = to_text(summary_grid(board(record("evil\x1b[31m\nname"))))
    assert "\x1b" not in text
    assert "evil\\x1b[31m\\nname" in text


EVIL = "a|b_c*[x](y) <script>&\\"
GRID = Grid(
    "title_1", ["sequence", EVIL], [[Value("S_out_star"), Value("+1.50", "-2.00", "+3.00", True)],
                                    [Value(EVIL), Value("timeout")]], ["50% & more"],
)  # fmt: skip


def test_markdown_is_escaped_and_has_as_many_columns_in_every_line():
    lines = [text for text in to_markdown(GRID).splitlines() if text.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", text)) for text in lines} == {3}
    assert "<script>" not in "".join(lines)
    assert "**+1.50** \\[-2.00, +3.00\\]" in lines[2]


def test_latex_is_escaped_and_writes_sequences_as_the_paper_does():
    text = to_latex(GRID)
    assert r"$S^{\text{out}*}$ & \textbf{$+$1.50}$_{-2.00}^{+3.00}$ \\" in text
    body = text.split("\\midrule")[1]
    assert r"a|b\_c*[x](y) \textless{}script\textgreater{}\&\textbackslash{}" in body


def test_wide_csv_has_the_ends_in_columns():
    first, second = csv.DictReader(io.StringIO(to_csv(GRID)))
    assert (first[EVIL], first[f"{EVIL} low"], first[f"{EVIL} high"]) == ("+1.50", "-2.00", "+3.00")
    assert second[EVIL] == "timeout"


def test_wide_csv_holds_no_formula_and_keeps_its_numbers():
    grid = Grid(
        "", ["sequence", "=1+1"], [[Value("@x"), Value("=2")], [Value("a"), Value("-3.50")]]
    )
    assert to_csv(grid).splitlines() == [
        "sequence,'=1+1,'=1+1 low,'=1+1 high", "'@x,'=2,,", "a,-3.50,,"
    ]  # fmt: skip


def test_the_long_form_has_a_row_per_job(holey):
    grid = long_grid(holey)
    assert len(grid.rows) == len(holey.rows)
    assert "timeout" in to_markdown(grid)


@pytest.mark.parametrize(("amount", "text"), [(-0.001, "0.00"), (0.004, "0.00"), (1, "+1.00")])
def test_what_prints_as_zero_has_no_sign(amount, text):
    assert number(amount, "{:+.2f}") == text


@pytest.mark.parametrize("form", [to_text, to_markdown, to_latex, to_csv])
def test_nothing_in_a_grid_steers_a_terminal(form):
    """Notes tell a record's reason."""
    text = "a\x1b]0;x\x07b\x9b2J"
    grid = Grid(text, ["name", "x"], [[Value(text), Value(text)]], [text])
    assert not {"\x1b", "\x07", "\x9b"} & set(form(grid))
