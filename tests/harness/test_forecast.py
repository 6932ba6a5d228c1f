"""What a plan would take: told by records, or counted without an image and compared with what it
took."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from msgspec import structs

from bell_bench.errors import BellBenchError
from bell_bench.harness import counted
from bell_bench.harness import estimate as estimate_module
from bell_bench.harness import forecast as forecast_module
from bell_bench.harness.calibration import Machine, _fit, calibrate
from bell_bench.harness.counted import Amount, Sizes, count, typical_updates
from bell_bench.harness.environment import processor
from bell_bench.harness.estimate import estimate, makespan
from bell_bench.harness.forecast import forecast
from bell_bench.harness.plan import Plan, Request, make_plan, sequence_of
from bell_bench.harness.progress import silent
from bell_bench.modular.settings import TrainingSettings
from bell_bench.records import Environment, Record, Resources, ResultStore, SolvedProblem
from bell_bench.suites.base import ProblemSize, SizedSequence
from bell_bench.work import PlannedProblem
from bell_bench_algorithms import work
from tests.harness.figures import asked

MACHINE = Machine(update_seconds=0.001, flops_per_second=1e9, start_seconds=2)


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "runs")


def estimates(plan, store):
    return estimate(plan, store, Sizes(silent), silent)


def trained(function, fitting, solved, **options):
    """How many paths a problem takes, by how many layers they train."""
    counts: dict[int, float] = {}
    for training in function(PlannedProblem(fitting, solved, options)):
        number = len(training.layers)
        counts[number] = counts.get(number, 0) + training.count
    return counts


def test_paths_by_algorithm():
    """Of a network of 4 modules after 3 problems that it could reuse."""
    planned = ((3, 3, 3, 3), 3)
    assert trained(work.sa, *planned) == {4: 1}
    assert trained(work.mntdp_d, *planned) == {4: 1, 3: 1, 2: 1, 1: 1, 0: 1}
    assert trained(work.pt_only, *planned) == {4: 1, 3: 1, 2: 1, 1: 1, 0: 1}
    assert trained(work.nt_only, *planned, l_min=1, c=None) == {4: 1, 3: 3, 2: 1, 1: 1}
    assert trained(work.nt_only, *planned, l_min=1, c=2) == {4: 1, 3: 2, 2: 1, 1: 1}
    both = trained(work.picle, *planned, l_min=1, c=None, searches="both")
    assert both == {4: 1, 3: 4, 2: 2, 1: 2, 0: 1}
    assert sum(trained(work.houdini, *planned, paths=None).values()) == 2 * 4 + 3
    assert trained(work.rs, *planned, trainings=None) == {4: 2 * 4 + 3}


def test_nothing_to_reuse_leaves_the_standalone_path():
    for name in ("mntdp_d", "pt_only", "houdini", "rs", "picle", "nt_only"):
        options = {"l_min": 3, "c": None, "searches": "both", "paths": None, "trainings": None}
        assert trained(getattr(work, name), (0,) * 8, 0, **options) == {8: 1}, name


def test_a_prefix_ends_where_types_differ():
    assert trained(work.mntdp_d, (2, 2, 0, 2), 2) == {4: 1, 3: 1, 2: 1}


def test_every_built_in_but_lmc_says_how_much_it_trains(store):
    names = ("sa", "mntdp-d", "houdini", "rs", "picle", "pt-only", "nt-only", "o-ewc", "er", "lmc")
    plan = make_plan(Request(names, sequences=("S_pl",)))
    unknown = {each.job.algorithm for each in estimates(plan, store) if not each.amount}
    assert unknown == {"lmc"}


def test_a_local_file_is_planned_and_says_nothing(tmp_path, store):
    (tmp_path / "mine.py").write_text("class Mine:\n    'Mine.'\n")
    plan = make_plan(Request((f"{tmp_path}/mine.py:Mine",), sequences=("S_pl",)))
    found = {each.job.algorithm: each.amount for each in estimates(plan, store)}
    assert found["Mine"] is None
    assert found["sa"] is not None


@pytest.mark.parametrize("device", ["cudaa", "meta:x"])
def test_a_device_that_cannot_be_used_is_told(device):
    with pytest.raises(BellBenchError, match=f"--device {device} cannot be used here"):
        calibrate([], device=device, threads=1, tell=silent)


@pytest.mark.parametrize(
    "suite", ["bell", "ctrl", pytest.param("ctrl-resnet", marks=pytest.mark.slow)]
)
def test_the_paper_scale_is_counted_without_images(suite, monkeypatch, tmp_path, store):
    monkeypatch.setenv("BELL_BENCH_CACHE", str(tmp_path))
    plan = make_plan(Request(("sa",), suite=suite, scale="paper"))
    (first, *_) = estimates(plan, store)
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


def put(store, job, *, cpu=None, **resources):
    """Store the record of a finished job, whose every problem cost the same."""
    used = {"wall_s": 9.0, "cpu_s": 7.0, "updates": 100, "train_flops": 3e9,
            "inference_flops": 1e9, "paths_evaluated": 2, "paths_trained": 1,
            "peak_memory_bytes": 0, "stored_bytes": 600}  # fmt: skip
    problem = SolvedProblem(
        fingerprint="", test_fingerprint="", accuracy_learnt=0.5, accuracy_final=0.5,
        resources=Resources(**used | resources),
    )  # fmt: skip
    environment = Environment(cpu=processor() if cpu is None else cpu)
    problems = [problem] * len(sequence_of(job))
    store.prepare(job, fresh=False).write(
        Record(status="done", job=job, problems=problems, environment=environment)
    )


@pytest.fixture
def timed(monkeypatch):
    """The networks that this machine was timed with; they are not really timed."""
    found = []
    monkeypatch.setattr(
        forecast_module, "calibrate", lambda networks, **_: found.extend(networks) or MACHINE
    )
    return found


def planned(store, *algorithms, **request):
    """The forecast of algorithms on S_pl, without the standalone jobs that Tr⁻¹ needs."""
    plan = make_plan(Request(algorithms, **{"sequences": ("S_pl",)} | request))
    return forecast(Plan(plan.asked), store, cores=2, machines=1, tell=silent)


def job_of(*algorithms, **request):
    (job, *_) = make_plan(Request(algorithms, **{"sequences": ("S_pl",)} | request)).jobs
    return job


def test_a_finished_job_is_forecast_at_its_recorded_cost(store, timed):
    put(store, job_of("picle"), stored_bytes=1234)
    put(store, job_of("picle", realisations=(1,)), updates=10**6)
    told = planned(store, "picle")
    (row,) = told.rows
    assert (row["from"], row["jobs"]) == ("1 record", 1)
    assert (row["trainings"], row["updates"], row["most_updates"]) == (12, 600, 600)
    assert (row["train_flops"], row["inference_flops"]) == (6 * 3e9, 6 * 1e9)
    assert (row["bytes"], row["seconds"]) == (1234, 6 * 7)
    assert told.wall_seconds == 6 * 7
    assert not timed, "nothing needed it"
    assert told.machine is None
    assert told.compared.jobs == 1
    assert told.compared.updates > 1
    assert told.compared.seconds is None


def test_other_realisations_and_seeds_are_averaged(store, timed):
    for realisation, updates, seconds in ((1, 100, 5.0), (2, 300, 7.0)):
        job = job_of("lmc", realisations=(realisation,), seeds=(realisation,))
        put(store, job, updates=updates, cpu_s=seconds)
    put(store, job_of("lmc", sequences=("S_minus",)), updates=10**6)
    told = planned(store, "lmc")
    (row,) = told.rows
    assert row["from"] == "2 records"
    assert row["updates"] == pytest.approx(6 * 200)
    assert row["seconds"] == pytest.approx(6 * 6)
    assert row["most_updates"] is None, "nobody knows"
    assert not timed
    assert told.unknown == []
    assert told.compared is None
    assert "2 records" in repr(told)


def test_other_sequences_count_by_the_problem(store, timed):
    put(store, job_of("lmc", sequences=("S_in_plus",)))
    told = planned(store, "lmc")
    (row,) = told.rows
    assert row["from"] == "1 record of other sequences"
    assert row["updates"] == pytest.approx(6 * 100)
    assert row["bytes"] == pytest.approx(600 * 6 / 16)
    assert not timed


def test_counting_goes_before_other_sequences(store, timed):
    put(store, job_of("sa", sequences=("S_in_plus",)))
    (row,) = planned(store, "sa").rows
    assert row["from"] == "counted"


def test_only_the_same_algorithm_at_the_same_scale_tells(store, timed):
    other = job_of("lmc", realisations=(1,))
    for number, change in enumerate(
        (
            {"provider": "theirs 1.0"},
            {"options": {**other.options, "one": "more"}},
            {"scale": "standard"},
            {"protocol": "authors-code"},
            {"suite_version": "0"},
            {"algorithm": "lmc2"},
        )
    ):
        put(store, structs.replace(other, seed=number, **change))
    assert planned(store, "lmc").unknown == ["lmc"]
    put(store, structs.replace(other, provider="bell-bench 0.0.1", software="old"))
    assert planned(store, "lmc").unknown == []


def test_seconds_of_another_processor_or_device_are_not_taken(store, timed):
    put(store, job_of("lmc", realisations=(1,)), cpu="another", cpu_s=10**6)
    put(store, job_of("lmc", realisations=(2,), device="meta"), wall_s=10**6)
    told = planned(store, "lmc")
    (row,) = told.rows
    assert row["from"] == "2 records"
    assert row["updates"] == pytest.approx(6 * 100)
    assert row["seconds"] == pytest.approx(2 + 6 * (100 * 0.001 + 4e9 / 1e9))
    assert timed, "its updates are timed here"
    put(store, job_of("lmc", realisations=(3,)), cpu_s=5.0)
    assert planned(store, "lmc").rows[0]["seconds"] == pytest.approx(6 * 5)


def test_with_several_threads_seconds_are_those_of_the_clock(store, timed):
    put(store, job_of("lmc", threads=2))
    assert planned(store, "lmc", threads=2).rows[0]["seconds"] == 6 * 9


def test_what_is_recorded_and_what_is_counted_add_up(store, timed):
    put(store, job_of("sa"))
    alone = planned(ResultStore(store.folder / "none"), "mntdp-d").total
    told = planned(store, "sa", "mntdp-d")
    assert [row["from"] for row in told.rows] == ["1 record", "counted"]
    assert told.total["from"] == "1 record, counted"
    assert told.total["updates"] == alone["updates"] + 600
    assert told.compared.seconds > 0


def test_a_damaged_record_is_told_and_left_out(store, timed):
    job = job_of("sa")
    put(store, job)
    store.folder_of(job).record_file.write_text("{")
    with pytest.warns(UserWarning, match="are left out: .*record.json cannot be read"):
        told = planned(store, "sa")
    assert told.rows[0]["from"] == "counted"


@dataclass
class Unsized:
    """A sequence that does not tell the sizes of its problems."""

    whole: object
    settings = property(lambda self: self.whole.settings)

    def __len__(self):
        return len(self.whole)

    def missing(self):
        return self.whole.missing()

    def problem(self, index):
        return self.whole.problem(index)


@pytest.fixture
def unsized(monkeypatch):
    def sequence(job):
        return Unsized(sequence_of(job))

    monkeypatch.setattr(counted, "sequence_of", sequence)
    monkeypatch.setattr(estimate_module, "sequence_of", sequence)


def test_without_sizes_the_problems_are_made(unsized, store, timed):
    job = job_of("sa", sequences=("S_few",))
    assert not isinstance(counted.sequence_of(job), SizedSequence)
    heard = []
    sizes = Sizes(lambda *told: heard.append(told))
    made, sequence = count(job, sizes), sequence_of(job)
    assert sizes.of(structs.replace(job, seed=1)) is sizes.of(job), "made once"
    assert heard == [("making the problems of S_few", n, 6) for n in range(1, 7)]
    for index, size in enumerate(sizes.of(job)):
        problem, told = sequence.problem(index), sequence.problem_size(index)
        assert size == ProblemSize.of(problem)
        assert (size.architecture, size.train, size.validation) == (
            told.architecture, told.train, told.validation)  # fmt: skip
        assert size.train_images <= told.train_images
        assert size.validation_images <= told.validation_images
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "sequence_of", sequence_of)
        from_sizes = count(job, Sizes(silent))
    assert made.updates == from_sizes.updates
    assert made.flops == pytest.approx(from_sizes.flops, rel=0.1)


def test_missing_images_are_told(unsized, store, timed):
    told = planned(store, "sa", "lmc", data="images")
    assert told.unknown == ["sa", "lmc"]
    reason, nobody = told.reasons
    assert reason.startswith("the problems of S_pl lack images (")
    assert told.reasons == {reason: ["sa"], nobody: ["lmc"]}
    text = " ".join(repr(told).split())
    assert "not counted: sa, as the problems of S_pl lack images (" in text
    assert "not counted: lmc, as nobody says how much they train" in text


def test_records_stand_where_images_are_missing(unsized, store, timed):
    put(store, job_of("sa", data="images", realisations=(1,)), cpu="another")
    told = planned(store, "sa", data="images")
    (row,) = told.rows
    assert row["updates"] == pytest.approx(600)
    assert row["seconds"] is None
    assert (told.unknown, told.untimed) == ([], ["sa"])
    assert "not timed: sa, as the records are of another processor" in repr(told)
    put(store, job_of("sa", data="images", realisations=(2,)))
    assert planned(store, "sa", data="images").untimed == []


def test_a_problem_that_cannot_be_made_costs_its_own_row(unsized, store, timed, monkeypatch):
    def problem(self, index):
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr(Unsized, "problem", problem)
    told = planned(store, "sa")
    (reason,) = told.reasons
    assert reason == "problem 1 of S_pl cannot be made (ZeroDivisionError: no such luck)"


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
