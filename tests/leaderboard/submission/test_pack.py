"""``bell-bench submit``: what goes into the file, what does not, and what is refused."""

from __future__ import annotations

import io
import json
import pathlib
import shutil
import zipfile

import pytest

from bell_bench.errors import BellBenchError, UsageError
from bell_bench.files import SEAL, sha256, write_sealed
from bell_bench.records import Job
from bell_bench.records.packed.submission import job_faults
from bell_bench_submissions.pack import pack
from tests.leaderboard.submission.conftest import Editable


def job_folder(runs: pathlib.Path, algorithm: str) -> pathlib.Path:
    (folder,) = runs.glob(f"*-{algorithm}-*")
    return folder


def edit_record(runs: pathlib.Path, algorithm: str, **changes: object) -> None:
    file = job_folder(runs, algorithm) / "record.json"
    record = json.loads(file.read_text())
    write_sealed(file, {k: v for k, v in record.items() if k != SEAL} | changes)


def test_records_predictions_and_a_manifest_of_their_hashes_and_nothing_else(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
        for name, stated in manifest["files"].items():
            assert sha256(archive.read(name)) == stated
    assert {name.rpartition("/")[2] for name in names} == {
        "manifest.json", "record.json", "predictions.npz"
    }  # fmt: skip
    assert set(names) == {*manifest["files"], "manifest.json"}
    assert (manifest["name"], manifest["contact"]) == ("somebody", "some@where")
    statuses = {job["status"] for job in manifest["jobs"].values()}
    assert statuses == {"done", "failed"}


def test_equal_runs_give_equal_bytes(runs, content):
    assert pack([runs], name="somebody", contact="some@where").content == content
    jobs = sorted(folder for folder in runs.iterdir() if (folder / "job.json").exists())
    apart = pack(reversed(jobs), name="somebody", contact="some@where")
    assert apart.content == content


def test_no_path_of_this_machine_is_in_it(made, content):
    packed = pack([made.folder / "runs"])
    edited = Editable.of(content)
    job = edited.records["Mine"]["job"]
    assert job["load"] == "file:mine.py:Mine"
    assert job["provider"].startswith("mine.py sha256:")
    assert {place.partition(": ")[2] for place in packed.shortened} >= {"job.load", "job.provider"}
    for secret in (str(made.folder), str(pathlib.Path.home()) + "/", "/tmp/"):
        for name, data in edited.files.items():
            assert secret.encode() not in data, name


def test_a_failed_job_is_listed_with_its_reason_and_without_scores(content):
    record = Editable.of(content).records["fail"]
    assert record["status"] == "failed"
    assert record["reason"] == "ValueError: no such luck"
    assert len(record["problems"]) == 2, "what it cost is told"
    assert not any(key.startswith("accuracy") for each in record["problems"] for key in each)
    assert record["matrix"] == []


def test_what_has_not_ended_is_refused_all_of_it(runs):
    (job_folder(runs, "constant") / "record.json").unlink()
    edit_record(runs, "Mine", status="interrupted")
    with pytest.raises(BellBenchError) as told:
        pack([runs])
    assert str(told.value).count("it has not ended") == 2
    assert "-constant-" in str(told.value)
    assert "-Mine-" in str(told.value)


def test_the_standalone_run_must_be_there(runs):
    shutil.rmtree(job_folder(runs, "sa"))
    with pytest.raises(BellBenchError, match="--algo sa --suite tiny --sequence S_pl"):
        pack([runs])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda f: (f / "predictions.npz").unlink(), "No such file"),
        (lambda f: (f / "predictions.npz").write_bytes(b"cut"), "not the file that the record"),
        (lambda f: (f / "record.json").write_text("{"), "cannot be read"),
        (lambda f: (f / "record.json").write_text('{"schema": 7}'), "schema is 7, not 1"),
        (
            lambda f: (f / "record.json").write_text('{"schema": 1, "status": "done"}'),
            "job: missing",
        ),
    ],
)
def test_what_is_damaged_is_refused(runs, spoil, words):
    spoil(job_folder(runs, "constant"))
    with pytest.raises(BellBenchError, match=words) as told:
        pack([runs])
    assert "-constant-" in str(told.value)


def test_predictions_of_another_job_are_refused(runs):
    shutil.copy(job_folder(runs, "sa") / "predictions.npz", job_folder(runs, "constant"))
    with pytest.raises(BellBenchError, match="not the file that the record was made with"):
        pack([runs])


def test_a_job_in_two_folders_counts_once_if_it_found_the_same(runs, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(runs, other)
    packed = pack([runs, other])
    assert len(packed.repeated) == len(packed.statuses) == 4
    assert packed.content == pack([runs]).content
    predictions = job_folder(other, "constant") / "predictions.npz"
    shutil.copy(job_folder(other, "Mine") / "predictions.npz", predictions)
    edit_record(other, "constant", predictions_sha256=sha256(predictions.read_bytes()))
    with pytest.raises(BellBenchError, match="holds this job with other predictions"):
        pack([runs, other])


def test_no_results_and_unbearable_names_are_wrong_usage(tmp_path, runs):
    with pytest.raises(UsageError, match="no results in"):
        pack([tmp_path / "empty"])
    with pytest.raises(UsageError, match=r"manifest\.name: expected .* of 300 characters"):
        pack([runs], name="x" * 300)


def test_the_command_tells_what_it_did(made, tmp_path):
    done = made.bell_bench("submit", "--out", str(tmp_path / "mine.zip"), "--name", "me")
    assert done.returncode == 0, done.stderr
    assert "4 jobs (3 done, 1 failed)" in done.stdout
    assert "listed as failed: tiny-S_pl-fail" in done.stdout
    assert "job.load" in done.stdout
    assert f"bell-bench validate {tmp_path / 'mine.zip'}" in done.stdout
    checked = made.bell_bench("validate", str(tmp_path / "mine.zip"))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    nothing = made.bell_bench("submit", str(tmp_path))
    assert nothing.returncode == 2
    assert "no results in" in nothing.stderr


def test_a_member_of_a_family_can_be_submitted(runs):
    old = job_folder(runs, "constant")
    record = json.loads((old / "record.json").read_text())
    record["job"]["algorithm"] = "avalanche:LwF"
    new = old.rename(runs / Job.from_json(record["job"]).name)
    write_sealed(new / "record.json", {k: v for k, v in record.items() if k != SEAL})
    (new / "job.json").write_text(json.dumps(record["job"]))
    packed = Editable.of(pack([runs]).content)
    assert packed.names["avalanche:LwF"] == new.name


@pytest.mark.parametrize("name", ["a:b:C", "x.py:C", "./x.py:C", ":C", "avalanche:", "a b"])
def test_no_other_prefix_is_an_algorithms_name(edit, name):
    job = edit.records["constant"]["job"]
    assert not list(job_faults(Job.from_json({**job, "algorithm": "avalanche:LwF"})))
    assert len(list(job_faults(Job.from_json({**job, "algorithm": name})))) == 1
