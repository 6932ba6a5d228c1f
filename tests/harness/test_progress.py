"""What a person sees while jobs run."""

from __future__ import annotations

import pytest

from bell_bench.harness.job import Job
from bell_bench.harness.progress import BarProgress, PlainProgress, Standing

JOB = Job("a", "m:A", "p", "bell", "1", "S", 0, 1, 0, "quick", "glyphs", "paper")


@pytest.mark.parametrize("kind", [PlainProgress, BarProgress])
def test_a_lost_node_and_a_fault_are_told_on_a_terminal_and_elsewhere(kind, capsys):
    with kind([JOB]) as progress:
        progress.event(JOB, {"event": "started", "problems": 4, "solved": 2})
        assert progress.time_left is None
        progress.event(JOB, {"event": "solved", "index": 2, "name": "third", "accuracy": 0.5})
        assert progress.time_left > 0
        progress.event(JOB, {"event": "lost", "reason": "[red] gone"})
        progress.end(JOB, {"status": "timeout", "reason": "too slow"})
        assert progress.time_left == 0
    told = capsys.readouterr().err
    assert "a S r0 s0: its node was lost, starting again ([red] gone)" in told
    assert "a S r0 s0: timeout: too slow" in told


def test_a_path_that_is_asked_for_twice_counts_once_as_show_counts_it() -> None:
    standing = Standing()
    standing.take({"event": "started", "problems": 2, "solved": 0})
    standing.take({"event": "problem", "name": "one"})
    for path in ("new new", "1.1 new", "new new"):
        standing.take({"event": "path", "path": path, "accuracy": 0.5})
    assert str(standing) == "one: 2 paths, best 50.0%"
    standing.take({"event": "problem", "name": "two"})
    standing.take({"event": "path", "path": "new new", "accuracy": 0.5})
    assert str(standing) == "two: 1 path, best 50.0%"
