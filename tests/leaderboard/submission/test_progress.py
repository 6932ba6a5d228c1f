"""Whoever waits is shown how far it is; whoever need not wait sees nothing."""

from __future__ import annotations

import sys

from bell_bench.cli import validate


def test_nothing_is_shown_of_what_is_quick(capsys):
    assert list(validate.watched("checking")(["a", "b"])) == ["a", "b"]
    assert capsys.readouterr().err == ""


def test_lines_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setattr(validate, "INTERVAL", -1.0)
    assert list(validate.watched("checking")(["a", "b"])) == ["a", "b"]
    assert "checking: 1 of 2 jobs" in capsys.readouterr().err


def test_a_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(validate, "PATIENCE", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    items = validate.watched("checking")(["a", "b"])
    assert list(items) == ["a", "b"]
    assert "checking jobs" in capsys.readouterr().err


def test_stopping_early_is_fine(monkeypatch):
    monkeypatch.setattr(validate, "PATIENCE", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for item in validate.watched("checking")(["a", "b"]):
        assert item == "a"
        break
