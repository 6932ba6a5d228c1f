"""``bell-bench leaderboard``: its formats, figures and faults."""

from __future__ import annotations

import csv
import json

import pytest

from bell_bench.cli.verbs import run
from bell_bench_leaderboard.resources_picture import draw_resources
from tests.leaderboard.making import read, record, series, write_run


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    records = [*series("sa", (0.5, 0.6, 0.7)), *series("picle", (0.6, 0.8, 0.9))]
    for number, content in enumerate(records):
        write_run(folder / f"job{number}", content)
    return folder


def test_the_table_in_every_form(runs, capsys):
    for arguments, told in (
        ([], "picle"),
        (["--wide"], "rank"),
        (["--long"], "realisation"),
        (["--baseline", "sa"], "A − sa"),
        (["--costs"], "A at equal budget"),
        (["--properties"], "observed properties"),
    ):
        assert run(["leaderboard", str(runs), *arguments]) == 0
        assert told in capsys.readouterr().out


def test_files_in_every_format(runs, tmp_path, capsys):
    files = {name: tmp_path / f"table.{name}" for name in ("csv", "markdown", "latex", "html")}
    arguments = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    assert run(["leaderboard", str(runs), *arguments]) == 0
    assert len(list(csv.DictReader(files["csv"].open()))) == 6
    assert files["markdown"].read_text().count("| A |") == 2
    assert "\\begin{tabular}" in files["latex"].read_text()
    assert files["html"].read_text().startswith("<!doctype html>")
    assert run(["leaderboard", str(runs), "--wide", "--csv", str(files["csv"])]) == 0
    assert "picle low" in files["csv"].read_text()
    assert run(["leaderboard", str(runs), "--long", "--markdown", str(files["markdown"])]) == 0
    assert files["markdown"].read_text().count("| picle |") == 3


def test_json_has_the_rows(runs, capsys):
    assert run(["leaderboard", str(runs), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 6


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False])
def test_the_figure_on_resources(runs, tmp_path, monkeypatch, capsys, named):
    monkeypatch.chdir(tmp_path)
    file = "mine.png" if named else "resources.png"
    assert run(["leaderboard", "--figure", "resources", *[file] * named, str(runs)]) == 0
    assert (tmp_path / file).read_bytes().startswith(b"\x89PNG")
    assert "resources on S_pl" in capsys.readouterr().err


@pytest.mark.slow
def test_the_figure_has_a_line_for_every_algorithm(tmp_path, monkeypatch):
    """Also for one without paths, as lmc, and for one that counted no FLOPs."""
    from matplotlib.figure import Figure

    names = []
    monkeypatch.setattr(Figure, "legend", lambda self, _, found, **rest: names.extend(found))
    pathless = record("lmc", learnt=[0.9] * 30)
    for problem in pathless["problems"]:
        problem["path"] = None
    none = record("none", learnt=[0.9] * 30, resources={"train_flops": 0})
    draw_resources(map(read, [record(learnt=[0.9] * 30), pathless, none]), tmp_path / "x.png")
    assert names == ["picle", "lmc", "none"]


@pytest.mark.slow
def test_every_long_sequence_and_setting_has_a_row_of_its_own(tmp_path, monkeypatch, capsys):
    from matplotlib.figure import FigureBase

    titles = []
    monkeypatch.setattr(FigureBase, "suptitle", lambda self, text, **rest: titles.append(text))
    jobs = [("S_long", 30, "bell", "paper"), ("S_long", 40, "bell", "authors-code"),
            ("s_long", 40, "ctrl", "paper"), ("S_pl", 6, "bell", "paper")]  # fmt: skip
    for number, (sequence, length, suite, protocol) in enumerate(jobs):
        content = record(learnt=[0.9] * length, sequence=sequence, suite=suite, protocol=protocol)
        write_run(tmp_path / "runs" / f"job{number}", content)
    file = str(tmp_path / "long.png")
    assert run(["leaderboard", str(tmp_path / "runs"), "--figure", "resources", file]) == 0
    assert "resources on S_long, s_long" in capsys.readouterr().err
    assert titles == [
        "S_long, bell at quick, glyphs, paper: one run",
        "S_long, bell at quick, glyphs, authors-code: one run",
        "s_long, ctrl at quick, glyphs, paper: one run",
    ]


def test_a_figure_of_nothing_is_refused(tmp_path, capsys):
    write_run(tmp_path / "runs" / "job", record(status="failed"))
    assert run(["leaderboard", str(tmp_path / "runs"), "--figure", "resources", "x.png"]) == 2
    assert "no algorithm has completed" in capsys.readouterr().err


@pytest.mark.slow
def test_a_long_sequence_with_several_realisations_is_drawn(tmp_path):
    for number in range(2):
        cost = {"train_flops": 1e9 * (1 + number), "peak_memory_bytes": 1e8 * (1 + number)}
        content = record(learnt=[0.9] * 30, realisation=number, sequence="S_long", resources=cost)
        write_run(tmp_path / "runs" / f"job{number}", content)
    file = tmp_path / "long.png"
    assert run(["leaderboard", str(tmp_path / "runs"), "--figure", "resources", str(file)]) == 0
    assert file.stat().st_size > 10_000


def test_settings_are_shown_apart_and_cannot_share_a_wide_csv(runs, tmp_path, capsys):
    write_run(runs / "other", record(scale="paper"))
    assert run(["leaderboard", str(runs)]) == 0
    assert capsys.readouterr().out.count("suite bell") == 2
    arguments = ["--wide", "--csv", str(tmp_path / "x.csv")]
    assert run(["leaderboard", str(runs), *arguments]) == 2
    assert "Make one file for each setting" in capsys.readouterr().err
    assert run(["leaderboard", str(runs), "--picture", str(tmp_path / "x.png")]) == 2


def test_a_picture_of_no_known_format_is_refused(runs, tmp_path, capsys):
    assert run(["leaderboard", str(runs), "--picture", str(tmp_path / "x.doc")]) == 2
    assert "a picture's name ends in one of" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [runs]


def test_an_unknown_baseline_is_told(runs, capsys):
    assert run(["leaderboard", str(runs), "--baseline", "picel"]) == 2
    assert "did you mean picle" in capsys.readouterr().err


def test_no_results_is_told(tmp_path, capsys):
    assert run(["leaderboard", str(tmp_path)]) == 2
    assert "no results" in capsys.readouterr().err


def test_a_broken_record_is_told_in_a_line(runs, capsys):
    (runs / "broken").mkdir()
    (runs / "broken" / "record.json").write_text("{")
    assert run(["leaderboard", str(runs)]) == 0
    assert "warning:" in (told := capsys.readouterr().err)
    assert "broken" in told


def test_older_versions_of_a_suite_are_told(tmp_path, capsys):
    write_run(tmp_path / "job", record(suite_version="0"))
    assert run(["leaderboard", str(tmp_path)]) == 0
    assert "results of version 0 are compared with each other only" in capsys.readouterr().err
