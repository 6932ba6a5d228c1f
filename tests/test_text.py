"""Tables and paragraphs, on a terminal and off it."""

from __future__ import annotations

import pytest

from bell_bench import text


def test_tables_align_and_do_not_wrap_in_a_pipe() -> None:
    rows = [("a", 1, "x " * 100), ("long name", None, "")]
    lines = text.table(rows, ("name", "n", "what")).splitlines()
    assert lines[0] == "  name       n  what"
    assert lines[1].startswith("  a          1  x x")
    assert lines[2] == "  long name  –"
    assert len(lines) == 3
    assert text.table([]) == ""


def test_the_last_column_wraps_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "terminal_width", lambda: 40)
    lines = text.table([("name", "word " * 20)]).splitlines()
    assert len(lines) > 2
    assert all(len(line) <= 40 for line in lines)
    assert lines[1].startswith(" " * 8 + "word")


def test_values_on_one_line() -> None:
    assert text.brief({"a": [1, 2], "b": None, "c": 0.5, "d": True}) == (
        "a: 1, 2; b: –; c: 0.5; d: yes"
    )
    assert text.brief([(0.01, 0), (0.001, 0)]) == "(0.01, 0), (0.001, 0)"
