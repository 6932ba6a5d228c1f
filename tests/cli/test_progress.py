"""Whoever waits is shown how far it is; whoever need not wait sees nothing."""

from __future__ import annotations

import sys

from bell_bench.cli import progress


def test_nothing_is_shown_of_what_is_quick(capsys):
    assert list(progress.watched("checking jobs")(["a", "b"])) == ["a", "b"]
    assert capsys.readouterr().err == ""


def test_lines_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", -1.0)
    assert list(progress.watched("checking jobs")(["a", "b"])) == ["a", "b"]
    assert "checking jobs: 1 of 2" in capsys.readouterr().err


def test_a_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    items = progress.watched("checking jobs")(["a", "b"])
    assert list(items) == ["a", "b"]
    assert "checking jobs" in capsys.readouterr().err


def test_stopping_early_is_fine(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for item in progress.watched("checking jobs")(["a", "b"]):
        assert item == "a"
        break
