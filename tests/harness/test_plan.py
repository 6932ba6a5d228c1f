"""What is checked before anything runs."""

from __future__ import annotations

import pytest

import bell_bench.harness.plan as plan_module
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.harness.executor import JobLimits, LocalExecutor
from bell_bench.harness.plan import Request, check_plan, make_plan
from bell_bench.harness.state import make_record
from bell_bench.records import ResultStore


def test_what_is_finished_needs_no_images(tmp_path, monkeypatch):
    monkeypatch.setenv("BELL_BENCH_DATA", str(tmp_path / "data"))
    plan = make_plan(Request(("sa",), sequences=("S_pl",), data="images"))
    store = ResultStore(tmp_path / "runs")
    executor = LocalExecutor(store, JobLimits(), 1)
    with pytest.raises(UsageError, match="images are missing for --data images"):
        check_plan(plan, executor)
    for job in plan.jobs:
        store.folder_of(job).write(make_record(job, "unsupported", "for tests", None))
    check_plan(plan, executor)
    with pytest.raises(UsageError, match="images are missing"):
        check_plan(plan, executor, fresh=True)


class Elsewhere(LocalExecutor):
    """Nobody knows what begins when."""

    def at_once(self, jobs):
        return 0


def test_what_begins_at_once_is_not_tried_before(tmp_path, monkeypatch):
    """It shows its faults by itself; whoever must wait for a place would show them hours later."""
    tried = []
    monkeypatch.setattr(
        plan_module, "try_out", lambda load, items, *rest, **more: tried.extend(items) or {}
    )
    plan = make_plan(Request(("mntdp-d", "sa"), sequences=("S_pl",), device="cuda"))
    for workers in (1, 2):
        check_plan(plan, LocalExecutor(ResultStore(tmp_path / "runs"), JobLimits(), workers))
    (last,) = {job.load for job in plan.jobs[1:]}
    assert tried == [last, "--device cuda", "--device cuda"]


def test_a_run_of_nothing_but_what_cannot_be_imported_is_given_up(tmp_path, monkeypatch):
    plan = make_plan(Request(("mntdp-d",), sequences=("S_pl",), realisations=(0, 1)))
    monkeypatch.setattr(
        plan_module,
        "try_out",
        lambda load, items, *rest, **more: dict.fromkeys(items, "no such thing"),
    )
    with pytest.raises(BellBenchError, match="no such thing"):
        check_plan(plan, Elsewhere(ResultStore(tmp_path / "runs"), JobLimits()))
