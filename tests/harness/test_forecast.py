"""What a plan would take: counted without an image, and compared with what it took."""

from __future__ import annotations

import json

import pytest

from bell_bench.errors import BellBenchError
from bell_bench.harness.calibration import Machine, _fit, calibrate
from bell_bench.harness.estimate import Amount, estimate, makespan, typical_updates
from bell_bench.harness.plan import Request, make_plan
from bell_bench.harness.progress import silent
from bell_bench.modular.settings import TrainingSettings
from bell_bench.work import PlannedProblem
from bell_bench_algorithms import work
from tests.harness.figures import asked

MACHINE = Machine(update_seconds=0.001, flops_per_second=1e9, start_seconds=2)


def trained(function, fitting, solved, **options):
    """How many paths a problem takes, by how many layers they train."""
    counts: dict[int, float] = {}
    for training in function(PlannedProblem(fitting, solved, options)):
        number = len(training.layers)
        counts[number] = counts.get(number, 0) + training.count
    return counts


def test_paths_by_algorithm():
    """Of a network of 4 modules after 3 problems that it could reuse."""
    room = ((3, 3, 3, 3), 3)
    assert trained(work.sa, *room) == {4: 1}
    assert trained(work.mntdp_d, *room) == {4: 1, 3: 1, 2: 1, 1: 1, 0: 1}
    assert trained(work.pt_only, *room) == {4: 1, 3: 1, 2: 1, 1: 1, 0: 1}
    assert trained(work.nt_only, *room, l_min=1, c=None) == {4: 1, 3: 3, 2: 1, 1: 1}
    assert trained(work.nt_only, *room, l_min=1, c=2) == {4: 1, 3: 2, 2: 1, 1: 1}
    both = trained(work.picle, *room, l_min=1, c=None, searches="both")
    assert both == {4: 1, 3: 4, 2: 2, 1: 2, 0: 1}
    assert sum(trained(work.houdini, *room, paths=None).values()) == 2 * 4 + 3
    assert trained(work.rs, *room, trainings=None) == {4: 2 * 4 + 3}


def test_nothing_to_reuse_leaves_the_standalone_path():
    for name in ("mntdp_d", "pt_only", "houdini", "rs", "picle", "nt_only"):
        options = {"l_min": 3, "c": None, "searches": "both", "paths": None, "trainings": None}
        assert trained(getattr(work, name), (0,) * 8, 0, **options) == {8: 1}, name


def test_a_prefix_ends_where_types_differ():
    assert trained(work.mntdp_d, (2, 2, 0, 2), 2) == {4: 1, 3: 1, 2: 1}


def test_every_built_in_but_lmc_says_how_much_it_trains():
    names = ("sa", "mntdp-d", "houdini", "rs", "picle", "pt-only", "nt-only", "o-ewc", "er", "lmc")
    plan = make_plan(Request(names, sequences=("S_pl",)))
    unknown = {each.job.algorithm for each in estimate(plan, silent) if not each.amount}
    assert unknown == {"lmc"}


def test_a_local_file_is_planned_and_says_nothing(tmp_path):
    (tmp_path / "mine.py").write_text("class Mine:\n    'Mine.'\n")
    plan = make_plan(Request((f"{tmp_path}/mine.py:Mine",), sequences=("S_pl",)))
    found = {each.job.algorithm: each.amount for each in estimate(plan, silent)}
    assert found["Mine"] is None
    assert found["sa"] is not None


@pytest.mark.parametrize("device", ["cudaa", "meta:x"])
def test_a_device_that_cannot_be_used_is_told(device):
    with pytest.raises(BellBenchError, match=f"--device {device} cannot be used here"):
        calibrate([], device=device, threads=1, tell=silent)


@pytest.mark.parametrize(
    "suite", ["bell", "ctrl", pytest.param("ctrl-resnet", marks=pytest.mark.slow)]
)
def test_the_paper_scale_is_counted_without_images(suite, monkeypatch, tmp_path):
    monkeypatch.setenv("BELL_BENCH_CACHE", str(tmp_path))
    plan = make_plan(Request(("sa",), suite=suite, scale="paper"))
    (first, *_) = estimate(plan, silent)
    assert first.amount.updates > 1000
    assert first.amount.most_updates >= first.amount.updates
    assert first.amount.train_flops > 1e12
    assert first.seconds(MACHINE) > 2
    assert not list(tmp_path.iterdir())


def test_amounts_add_up_and_jobs_share_slots():
    assert (Amount(1, 2, 3, 4, 5, 6) + Amount(1)).times(2) == Amount(4, 4, 6, 8, 10, 12)
    assert makespan([3, 1, 1, 1], 2) == 3
    assert makespan([1, 1, 1, 3], 2) == 4
    assert makespan([], 2) == 0
    assert makespan([2, 1], 10**30) == 2


def test_patience_counts_in_updates_or_epochs_whichever_is_longer():
    settings = TrainingSettings(patience=150, patience_epochs=2, batch=32)
    assert typical_updates(settings, 8000) == pytest.approx(typical_updates(settings, 4000) * 2)
    assert typical_updates(settings, 32) == pytest.approx(typical_updates(settings, 64))


def test_the_fit_finds_both_parts():
    rows = [(flops, 0.002 + flops / 1e10) for flops in (1e6, 1e8, 1e9)]
    fixed, slope = _fit(rows)
    assert fixed == pytest.approx(0.002)
    assert 1 / slope == pytest.approx(1e10)


@pytest.mark.slow
def test_a_run_is_compared_with_its_estimate(house):
    arguments = ("--suite", "tiny", "--sequence", "S_pl", *asked("mntdp-d", "constant"))
    before = house.bell_bench("plan", *arguments).stdout
    assert "not counted: constant" in before
    assert "have run" not in before
    assert house.evaluate(*asked("mntdp-d")).returncode == 0
    done = house.bell_bench("plan", *arguments, "--cores", "4", "--machines", "2", "--json")
    after = json.loads(done.stdout)
    assert after["compared"]["jobs"] == 2
    record = house.record("mntdp_d")
    used = [problem["resources"] for problem in record["problems"]]
    row = next(row for row in after["algorithms"] if row["algorithm"] == "mntdp-d")
    assert row["trainings"] >= sum(each["paths_evaluated"] for each in used)
    assert row["most_updates"] >= sum(each["updates"] for each in used)
    assert 0 < after["wall_seconds"] < after["total"]["seconds"]
    assert after["unknown"] == ["constant"]
