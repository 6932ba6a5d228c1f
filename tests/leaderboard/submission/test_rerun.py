"""``validate --rerun``: jobs are run again by the code that is installed here, and compared."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from msgspec import structs

from bell_bench.harness.plan import Plan
from bell_bench.records import Job
from bell_bench_submissions import rerun as module
from bell_bench_submissions.check import Report
from bell_bench_submissions.rerun import Rerun, rerun
from tests.harness.conftest import House
from tests.leaderboard.making import record


@pytest.fixture
def told(made: House, tmp_path: pathlib.Path):
    def told(content: bytes, *options: str) -> tuple[int, str]:
        file = tmp_path / "submitted.zip"
        file.write_bytes(content)
        done = made.bell_bench("validate", str(file), "--rerun", *options)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr

    return told


def only(edit, *algorithms: str) -> None:
    for algorithm in set(edit.records) - set(algorithms):
        edit.forget(algorithm)


@pytest.mark.slow
def test_the_same_machine_finds_the_same_bits(told, edit):
    """Also what cannot run again is named: the local file is not installed."""
    only(edit, "constant", "sa", "Mine", "fail")
    code, text = told(edit.build(), "9", "--seed", "1")
    assert code == 0, text
    assert text.count("rerun: the same to the bit") == 2
    assert "cannot be run again here: Mine of mine.py" in text
    assert "chosen by --seed 1" in text


@pytest.mark.slow
def test_invented_predictions_are_found_only_by_a_rerun(told, edit, validate):
    """Predictions made from the labels, all figures and hashes to fit: sound, but not true."""
    only(edit, "constant", "sa")
    edit.invent_standalone()
    content = edit.build()
    assert validate(content)[0] == 0
    code, text = told(content, "2", "--seed", "0")
    assert code == 1
    assert f"{edit.names['sa']}: rerun: problem 0: accuracy_learnt was 1.0, and is 0." in text
    assert "other predictions" in text
    assert f"{edit.names['constant']}: rerun: the same to the bit" in text


def test_what_is_not_installed_is_told(told, edit):
    only(edit, "constant", "sa")
    for algorithm in ("constant", "sa"):
        edit.records[algorithm]["job"]["algorithm"] += "" if algorithm == "sa" else "x"
        edit.records[algorithm]["job"]["load"] = "os:system"
    edit.records["sa"]["job"]["provider"] = "bell-bench x 1"
    code, text = told(edit.build(), "1")
    assert code == 2
    assert "cannot be run again here: constantx of tiny 0.1: unknown algorithm" in text
    assert "0 of 1 jobs were run again" in text


JOB = Job(algorithm="constant", load="os:system", provider="tiny 0.1", suite="tiny",
          suite_version="1", sequence="S_pl", realisation=0, realisation_seed=30, seed=0,
          scale="quick", data="glyphs", protocol="paper", options={"until": ""})  # fmt: skip


def test_what_the_submission_names_is_never_imported(tiny):
    assert module._as_here(JOB).load == "tiny:Constant"


def test_a_member_of_a_family_is_asked_for_by_its_own_name(tiny, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "make_plan", lambda request: asked.append(request) or Plan((JOB,)))
    module._as_here(structs.replace(JOB, algorithm="avalanche:LwF", provider="bell-bench 1"))
    module._as_here(JOB)
    assert [request.algorithms for request in asked] == [("avalanche:LwF",), ("tiny:constant",)]


@pytest.mark.parametrize(
    "change",
    [{"options": {"until": 3}}, {"options": {"unknown": ""}}, {"provider": "other 1"},
     {"scale": "huge"}, {"load": "file:mine.py:Mine"}, {"provider": "./mine.py 1"}],
)  # fmt: skip
def test_what_cannot_be_planned_is_not_chosen(tiny, change):
    job = structs.replace(JOB, **change)
    report = Report(jobs={"a": JOB, "b": job}, statuses={"a": "done", "b": "done"})
    result = Rerun()
    able = module._able(report, result)
    if change == {"options": {"until": 3}}:  # any number can be a file's name
        assert set(able) == {"a", "b"}
    else:
        assert set(able) == {"a"}
        assert len(result.unable) == 1


def test_the_choice_follows_the_seed(tiny, monkeypatch):
    jobs = {str(seed): structs.replace(JOB, seed=seed) for seed in range(20)}
    report = Report(jobs=jobs, statuses=dict.fromkeys(jobs, "done"))
    chosen: list[list[str]] = []
    monkeypatch.setattr(module, "check_plan", lambda *_: None)
    monkeypatch.setattr(module, "run_plan", lambda *_, **__: None)
    monkeypatch.setattr(module, "_compare", lambda name, *_: chosen[-1].append(name))
    for seed in (1, 1, 2):
        chosen.append([])
        rerun(None, report, 5, seed)
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(set(chosen[0])) == 5


@pytest.mark.parametrize(
    ("off", "last", "flops", "far"),
    [(0.0, 0.0, 1, ""), (0.029, 0.029, 1.9, ""), (0.031, 0.0, 1, "A was"),
     (0.02, 0.12, 1, "the last problem's accuracy was"), (0.0, 0.0, 0.4, "FLOPs were")],
)  # fmt: skip
def test_elsewhere_results_may_be_off_by_a_little(tmp_path, off, last, flops, far):
    """Another torch, processor or commit promises no bits; but no transfer, nor a bargain."""
    from bell_bench.files import write_arrays, write_json
    from bell_bench.records import JobFolder, Record
    from bell_bench.records.packed.submission import SubmittedJob

    def made(accuracies: list[float], torch: str, flops: float = 1e9) -> Record:
        environment = {"cpu": "one", "packages": {"torch": torch}}
        used = {"train_flops": flops, "stored_bytes": 100}
        return Record.from_json(
            {**record(learnt=accuracies, resources=used), "environment": environment}
        )

    folder = JobFolder(tmp_path)
    write_json(folder.record_file, made([0.5] * 6, "2").to_json())
    write_arrays(folder.predictions_file, {"final_0": np.zeros(3, np.uint8)})

    class Fake:
        @staticmethod
        def entry(name: str) -> SubmittedJob:
            first = (6 * off - last) / 5
            stated = [*[0.5 + first] * 5, 0.5 + last]
            return SubmittedJob(name, record=made(stated, "1", flops * 1e9), predictions={})

    result = Rerun()
    module._compare("job", Fake, folder, result)
    assert bool(result.faults) == bool(far)
    (text,) = result.agreed + result.faults
    assert f"rerun: {far}" in text
    assert text.count("allowed") == (1 if far else 4)
    assert "torch 1 then, 2 here" in text
