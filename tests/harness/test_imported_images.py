"""Imported images are part of what a job is: others under the same name make another job."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from bell_bench.data.imported import import_file
from bell_bench.errors import BellBenchError
from bell_bench.harness.plan import Request, make_plan, sequence_of
from bell_bench.harness.worker import check_images
from bell_bench.records import Job, read_records
from bell_bench_leaderboard.boards import boards
from bell_bench_submissions.agreement import beyond
from bell_bench_submissions.truth import Truths, Uncheckable
from tests.data.official_formats import made_images
from tests.leaderboard.making import read, record, result_rows

REQUEST = Request(("sa",), sequences=("S_few",), data="images")
GREY, DARK = "1" * 16, "2" * 16


def bring_in(folder, names, *, dark=False):
    arrays = made_images(range(8), train=120, test=40)
    if dark:
        arrays = {name: array // 2 if "images" in name else array for name, array in arrays.items()}
    np.savez(folder / "made.npz", **arrays)
    for name in names:
        import_file(name, folder / "made.npz")


@pytest.fixture
def job(tmp_path):
    (planned,) = make_plan(REQUEST).jobs
    bring_in(tmp_path, sequence_of(planned).domains)
    (planned,) = make_plan(REQUEST).jobs
    return planned


def test_a_job_names_what_is_imported_of_its_own_domains(tmp_path, job):
    assert tuple(job.imported) == sequence_of(job).domains
    bring_in(tmp_path, ["mnist_1"])  # which this realisation does not have
    assert "mnist_1" not in job.imported
    assert make_plan(REQUEST).jobs == (job,)
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job
    assert job.images == "imported images"


def test_other_images_make_another_job(tmp_path, job):
    bring_in(tmp_path, list(job.imported)[:1], dark=True)
    (other,) = make_plan(REQUEST).jobs
    assert other.name != job.name
    with pytest.raises(BellBenchError, match=rf"^{next(iter(job.imported))}: the images imported"):
        check_images(job)
    check_images(other)


def test_without_imports_a_job_is_what_it_always_was(job):
    (drawn,) = make_plan(Request(("sa",), sequences=("S_few",))).jobs
    content = drawn.to_json()
    assert "imported" not in content
    text = json.dumps(content, sort_keys=True)
    assert drawn.key == hashlib.sha256(text.encode()).hexdigest()
    assert drawn.images == "glyphs"


def test_other_images_cannot_tell_whether_results_are_right(tmp_path, job):
    truths = Truths()
    truths.of(job)
    bring_in(tmp_path, list(job.imported)[:1], dark=True)
    with pytest.raises(Uncheckable, match=f"{next(iter(job.imported))} was imported"):
        Truths().of(job)


def test_imported_images_that_are_not_here_are_not_to_be_downloaded(tmp_path, job, monkeypatch):
    monkeypatch.setenv("BELL_BENCH_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(Uncheckable, match="was imported, there or here"):
        Truths().of(job)


def test_boards_hold_equal_images_only():
    genuine = record(data="images")
    one = record(data="images", imported={"k49_1": GREY})
    another = record(data="images", imported={"k49_2": GREY}, sequence="S_in")
    contrary = record(data="images", imported={"k49_1": DARK, "k49_2": GREY})
    more = record(data="images", imported={"k49_1": GREY, "k49_2": GREY})
    found = boards(result_rows([genuine, one, another, contrary, more]))
    assert [(board.settings["data"], len(board.rows)) for board in found] == [
        ("images", 1),
        ("imported images", 2),
        ("imported images 2", 1),
        ("imported images 3", 1),
    ]


def test_accepted_results_on_imported_images_bind_nobody_who_has_others():
    accepted = read(record(data="images", imported={"k49_1": GREY}, realisation=2))
    assert not list(beyond([accepted], [read(record(data="images"))]))
    same = read(record(data="images", imported={"k49_1": GREY}))
    assert len(list(beyond([accepted], [same]))) == 1


@pytest.mark.parametrize("imported", [None, [], "k49_1", {"k49_1": 5}])
def test_a_record_with_impossible_imports_is_left_out(tmp_path, imported):
    (tmp_path / "job").mkdir()
    told = record(data="images", imported=imported)
    (tmp_path / "job/record.json").write_text(json.dumps(told))
    (tmp_path / "job/job.json").write_text(json.dumps(told["job"]))
    with pytest.warns(UserWarning, match=r"left out: .*job.imported"):
        assert read_records([tmp_path]) == []


def test_a_standalone_run_on_other_images_is_no_yardstick():
    alone = record("sa", (0.5, 0.5), data="images", imported={"k49_1": GREY})
    same = record("picle", (0.5, 0.75), data="images", imported={"k49_1": GREY})
    other = record("picle", (0.5, 0.75), data="images", imported={"k49_1": DARK})
    rows = result_rows([alone, same, other])
    assert [row["Tr_last"] for row in rows] == [0, 25, None]


@pytest.mark.slow
def test_a_finished_job_is_run_again_on_other_images(tmp_path, house):
    bring_in(tmp_path, sequence_of(make_plan(REQUEST).jobs[0]).domains)

    def evaluate():
        return house.evaluate("--algo", "constant", "--data", "images", sequence="S_few")

    first = evaluate()
    assert first.returncode == 0, first.stderr
    assert "data imported images" in first.stdout
    finished = house.observed().count("finished constant done")
    assert evaluate().returncode == 0
    assert house.observed().count("finished constant done") == finished == 1, "nothing is new"
    bring_in(tmp_path, ["k49_1"], dark=True)
    assert evaluate().returncode == 0
    assert house.observed().count("finished constant done") == 2
    told = house.bell_bench("leaderboard").stdout
    assert "data imported images 2" in told
