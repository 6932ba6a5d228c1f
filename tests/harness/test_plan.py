"""What is checked before anything runs."""

from __future__ import annotations

import pytest

from bell_bench.errors import UsageError
from bell_bench.harness.plan import Request, check_plan, make_plan
from bell_bench.harness.state import make_record
from bell_bench.harness.store import ResultStore


def test_what_is_finished_needs_no_images(tmp_path, monkeypatch):
    monkeypatch.setenv("BELL_BENCH_DATA", str(tmp_path / "data"))
    plan = make_plan(Request(("sa",), sequences=("S_pl",), data="images"))
    store = ResultStore(tmp_path / "runs")
    with pytest.raises(UsageError, match="images are missing for --data images"):
        check_plan(plan, store)
    for job in plan.jobs:
        store.folder_of(job).write(make_record(job, "unsupported", "for tests", None))
    check_plan(plan, store)
    with pytest.raises(UsageError, match="images are missing"):
        check_plan(plan, store, fresh=True)
