"""What a person sees while jobs run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bell_bench.harness.progress import BarProgress, PlainProgress, Progress, Standing
from bell_bench.records import Job, Record
from tests.leaderboard.making import read, record

JOB = Job(algorithm="a", load="m:A", provider="p", suite="bell", suite_version="1", sequence="S",
          realisation=0, realisation_seed=1, seed=0, scale="quick", data="glyphs",
          protocol="paper")  # fmt: skip


def ended(status: str, reason: str = "") -> Record:
    return read({**record(status=status), "reason": reason})


@pytest.mark.parametrize("kind", [PlainProgress, BarProgress])
def test_a_lost_node_and_a_fault_are_told_on_a_terminal_and_elsewhere(kind, capsys):
    with kind([JOB], to_solve={JOB.name: 4}) as progress:
        progress.event(JOB, {"event": "started", "problems": 4, "solved": 2})
        assert progress.time_left is None
        progress.event(JOB, {"event": "solved", "index": 2, "name": "third", "accuracy": 0.5})
        assert progress.time_left > 0
        progress.event(JOB, {"event": "lost", "reason": "[red] gone"})
        progress.end(JOB, ended("timeout", "too slow"))
        assert progress.time_left == 0
    told = capsys.readouterr().err
    assert "a S r0 s0: its node was lost, starting again ([red] gone)" in told
    assert "a S r0 s0: timeout: too slow" in told


def test_a_job_whose_problems_are_all_solved_is_waited_for_until_it_ends(capsys):
    """Its predictions and record are still to be written, so the line before says so."""
    other = replace(JOB, seed=1)
    with PlainProgress([JOB, other], to_solve={JOB.name: 1, other.name: 1}) as progress:
        for job in (JOB, other):
            progress.event(job, {"event": "started", "problems": 1, "solved": 0})
            progress.event(job, {"event": "solved", "index": 0, "name": "one", "accuracy": 0.5})
        for job in (JOB, other):
            progress.end(job, ended("done"))
    ends = [line for line in capsys.readouterr().err.splitlines() if line.endswith("]")]
    assert ends[0].endswith("a S r0 s0: done [1/2 jobs, about 0:00 left]")
    assert ends[1].endswith("a S r0 s1: done [2/2 jobs]")


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


def test_time_left_goes_by_problems_as_a_long_sequence_counts_for_more(monkeypatch) -> None:
    """Else a run that begins with its longest jobs foretells days."""
    long, short = replace(JOB, sequence="S_long"), JOB
    monkeypatch.setattr("bell_bench.harness.progress.time.monotonic", lambda: 60.0)
    progress = Progress([long, short], to_solve={long.name: 60, short.name: 6}, began=0.0)
    progress.event(long, {"event": "started", "problems": 60, "solved": 0})
    assert progress.time_left is None
    progress.event(long, {"event": "solved", "index": 19, "name": "twentieth", "accuracy": 0.5})
    assert progress.time_left == pytest.approx(60 * 46 / 20)
    progress.end(long, ended("done"))
    assert progress.time_left == pytest.approx(6.0)


def test_what_an_earlier_run_has_solved_is_no_work_of_this_one(monkeypatch) -> None:
    long, short = replace(JOB, sequence="S_long"), JOB
    monkeypatch.setattr("bell_bench.harness.progress.time.monotonic", lambda: 60.0)
    progress = Progress([long, short], to_solve={long.name: 60, short.name: 6}, began=0.0)
    progress.event(long, {"event": "started", "problems": 60, "solved": 50})
    progress.event(long, {"event": "solved", "index": 54, "name": "55th", "accuracy": 0.5})
    assert progress.time_left == pytest.approx(60 * 11 / 5)
    progress.end(long, ended("done"))
    assert progress.time_left == pytest.approx(60 * 6 / 10)


def test_what_a_failed_job_has_left_is_no_work_any_more(monkeypatch) -> None:
    other = replace(JOB, seed=1)
    monkeypatch.setattr("bell_bench.harness.progress.time.monotonic", lambda: 60.0)
    progress = Progress([JOB, other], to_solve={JOB.name: 6, other.name: 6}, began=0.0)
    progress.event(JOB, {"event": "started", "problems": 6, "solved": 0})
    progress.event(JOB, {"event": "solved", "index": 1, "name": "second", "accuracy": 0.5})
    progress.end(JOB, ended("failed", "no such luck"))
    assert progress.time_left == pytest.approx(60 * 6 / 2)


def test_a_job_is_named_with_its_protocol_where_there_are_several(capsys) -> None:
    other = replace(JOB, protocol="authors-code")
    with PlainProgress([JOB, other], to_solve={JOB.name: 1, other.name: 1}) as progress:
        progress.end(other, ended("done"))
    assert "a S r0 s0 authors-code: done" in capsys.readouterr().err
