"""What a person sees while jobs run."""

from __future__ import annotations

import pytest

from bell_bench.harness.job import Job
from bell_bench.harness.progress import BarProgress, PlainProgress

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
