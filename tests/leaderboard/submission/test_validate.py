"""``bell-bench validate``: what is sound passes, and every kind of change is found and named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bell_bench.files import sha256
from bell_bench.plugins import registry
from bell_bench.records.packed.archive import Archive
from bell_bench.records.packed.submission import LIMITS
from bell_bench_submissions import Refused, Submission
from bell_bench_submissions.check import check
from tests.leaderboard.submission.conftest import Editable, zipped


def test_a_sound_submission_passes_and_says_what_was_not_checked(validate, content):
    code, told = validate(content)
    assert code == 0, told
    assert "4 jobs (3 done, 1 failed), submitted by somebody" in told
    assert "sound" in told
    assert "not checked: seconds and memory" in told


def test_taking_apart_and_putting_together_changes_nothing(validate, edit):
    """So that what the tests below find is what they changed."""
    assert validate(edit.build())[0] == 0


def test_metrics_are_those_of_the_records_and_of_the_paper(tiny, content):
    report = check(Submission(Archive(content, LIMITS)))
    name = {job.algorithm: name for name, job in report.jobs.items()}
    made = Editable.of(content)
    record = made.records["constant"]
    found = report.metrics[name["constant"]]
    final = [problem["accuracy_final"] for problem in record["problems"]]
    alone = [problem["accuracy_final"] for problem in made.records["sa"]["problems"]]
    assert found["A"] == pytest.approx(record["metrics"]["A"])
    assert found["F"] == pytest.approx(record["metrics"]["F"])
    assert found["Tr_last"] == pytest.approx(100 * (final[-1] - alone[-1]))


def higher(record):
    record["problems"][3]["accuracy_final"] = 0.99


def better_learnt(record):
    record["problems"][0]["accuracy_learnt"] += 1 / 64


def better_matrix(record):
    record["matrix"][4][2] += 1e-6


def better_metric(record):
    record["metrics"]["A"] += 0.01


def better_forgetting(record):
    record["metrics"]["F"] = 5.0


def better_backward(record):
    record["metrics"]["backward_transfer"] = 1.0


def another_metric(record):
    record["metrics"]["Tr"] = 50.0


def short_matrix(record):
    record["matrix"].pop()


def no_matrix(record):
    record["matrix"] = []


def no_accuracy(record):
    del record["problems"][1]["accuracy_final"]


def other_problem(record):
    record["problems"][2]["fingerprint"] = "0" * 64


def other_test(record):
    record["problems"][2]["test_fingerprint"] = "0" * 64


def other_name(record):
    record["problems"][2]["name"] = "easy"


def other_classes(record):
    record["problems"][2]["classes"] = 8


def fewer_problems(record):
    record["problems"].pop()


def more_updates(record):
    record["settings"]["training"]["max_updates"] = 4000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (higher, "problem 3: accuracy_final is stated as 0.99; recomputed it is 0."),
        (better_learnt, "problem 0: accuracy_learnt is stated as"),
        (better_matrix, "matrix[4][2] is stated as"),
        (better_metric, "metrics.A is stated as"),
        (better_forgetting, "metrics.F is stated as 5; recomputed it is"),
        (better_backward, "metrics.backward_transfer is stated as 1; recomputed it is"),
        (another_metric, "metrics.Tr is a figure that cannot be checked"),
        (short_matrix, "record.matrix has 5 rows, not 6"),
        (no_matrix, "its matrix has 0 rows"),
        (no_accuracy, "record.problems[1].accuracy_final is missing"),
        (other_problem, "problem 2: fingerprint is stated as 0000"),
        (other_test, "problem 2: test_fingerprint is stated as 0000"),
        (other_name, "problem 2: name is stated as easy"),
        (other_classes, "problem 2: classes is stated as 8"),
        (fewer_problems, "record.matrix has 6 rows, not 5"),
        (more_updates, "settings.training.max_updates is 4000, not 40"),
    ],
)
def test_an_edited_record_is_found_though_its_hash_fits(validate, edit, change, words):
    change(edit.records["constant"])
    code, told = validate(edit.build())
    assert code == 1
    assert words in told
    assert "NOT sound: 1 mismatches" in told, "and nothing else is said to be wrong"


def test_every_mismatch_is_told_not_the_first(validate, edit):
    higher(edit.records["Mine"])
    better_metric(edit.records["constant"])
    other_problem(edit.records["sa"])
    edit.claim("sa")["Tr_last"] = 5.0
    edit.claim("constant")["A"] = 100.0
    code, told = validate(edit.build())
    assert code == 1
    assert "NOT sound: 5 mismatches" in told
    for words in ("accuracy_final", "metrics.A", "fingerprint", "Tr_last is stated as 5",
                  "manifest: A is stated as 100"):  # fmt: skip
        assert words in told


def test_a_changed_file_is_found_by_its_hash(validate, content):
    made = Editable.of(content)
    name = f"jobs/{made.names['sa']}/record.json"
    manifest = made.files | {name: made.files[name].replace(b'"cpu_s": ', b'"cpu_s": 1')}
    code, told = validate(zipped({**manifest, "manifest.json": json.dumps(made.manifest).encode()}))
    assert code == 1
    assert "record.json: its sha256 is not the manifest's" in told


def test_swapped_predictions_are_found(validate, edit):
    """Of two jobs on the same problems, so that all labels fit."""
    arrays = edit.arrays
    arrays["constant"], arrays["sa"] = arrays["sa"], arrays["constant"]
    code, told = validate(edit.build())
    assert code == 1
    for algorithm in ("constant", "sa"):
        assert f"{edit.names[algorithm]}: manifest: A is stated as" in told
    assert "labels" not in told


def test_swapped_predictions_with_the_same_figures_are_found(validate, edit):
    """One class or the other on balanced test sets: only the hash in the record tells."""
    arrays = edit.arrays
    arrays["constant"], arrays["Mine"] = arrays["Mine"], arrays["constant"]
    code, told = validate(edit.build(bind=False))
    assert code == 1
    assert "NOT sound: 2 mismatches" in told
    for algorithm in ("constant", "Mine"):
        assert f"{edit.names[algorithm]}: predictions.npz: it is not the file that" in told


def test_swapped_folders_are_found(validate, content):
    made = Editable.of(content)
    one, other = (made.names[algorithm] for algorithm in ("constant", "Mine"))
    swapped = {
        name.replace(one, "ONE").replace(other, one).replace("ONE", other): content
        for name, content in made.files.items()
    }
    code, told = validate(zipped({**swapped, "manifest.json": json.dumps(made.manifest).encode()}))
    assert code == 1
    assert f"{one}: its record is that of another job, {other}" in told


def test_labels_edited_to_fit_the_predictions_are_found(validate, edit):
    """The cheat that only making the labels again can find: every stated figure fits the file."""
    arrays, record = edit.arrays["constant"], edit.records["constant"]
    arrays["labels_5"] = arrays["final_5"].copy()
    record["problems"][5] |= {"accuracy_learnt": 1.0, "accuracy_final": 1.0}
    record["matrix"][5][5] = 1.0
    code, told = validate(edit.build())
    assert code == 1
    assert "labels_5: " in told
    assert "labels are not those made again from the seed" in told


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("final_0", None, "final_0 is missing"),
        ("after_2_1", None, "after_2_1 is missing"),
        ("extra", np.zeros(64, np.uint8), "extra is not expected"),
        ("final_0", np.zeros(63, np.uint8), "final_0 has 63 entries; its test set has 64"),
        ("final_0", np.full(64, 2, np.uint8), "final_0 names classes beyond the problem's 2"),
        ("final_0", np.full(64, -1), "final_0 names classes beyond the problem's 2"),
        ("final_0", np.full(64, 0.5), "only arrays of type |u1 or <i8"),
        ("final_0", np.full(64, np.nan), "only arrays of type |u1 or <i8"),
        ("final_0", np.zeros((64, 1), np.uint8), "with one dimension"),
        ("final_0", np.array([None] * 64), "only arrays of type |u1 or <i8"),
        ("learnt_1", np.ones(64, np.uint8), "learnt_1 and after_1_1 differ"),
    ],
)
def test_predictions_that_cannot_be_scored_are_told(validate, edit, name, array, words):
    if array is None:
        del edit.arrays["constant"][name]
    else:
        edit.arrays["constant"][name] = array
    code, told = validate(edit.build())
    assert code == 1
    assert words in told


def test_a_failed_job_with_scores_is_found(validate, edit):
    edit.records["fail"]["problems"][0]["accuracy_learnt"] = 1.0
    code, told = validate(edit.build())
    assert code == 1
    assert "its status is failed, but it states accuracies" in told


def test_a_failure_passed_off_as_done_is_found(validate, edit):
    edit.records["fail"]["status"] = "done"
    edit.claim("fail")["status"] = "done"
    code, told = validate(edit.build())
    assert code == 1
    assert "predictions.npz is missing" in told
    assert "problems[0].accuracy_learnt is missing, and yet status is done" in told
    for problem in edit.records["fail"]["problems"]:
        problem |= {"accuracy_learnt": 1.0, "accuracy_final": 1.0}
    code, told = validate(edit.build())
    assert code == 1
    assert "predictions.npz is missing" in told
    assert "its status is done, but it has 2 problems of 6" in told


def test_a_sequence_cut_short_is_found_though_its_matrix_fits(validate, edit):
    record = edit.records["constant"]
    record["problems"].pop()
    record["matrix"].pop()
    code, told = validate(edit.build())
    assert code == 1
    assert "its status is done, but it has 5 problems of 6" in told
    assert "its matrix has 5 rows" in told


def test_fields_of_later_releases_are_read_past_but_in_a_job(validate, edit):
    """A job's fields determine its result: one that nobody here knows is told (see below)."""
    record = edit.records["constant"]
    for part in (record, record["problems"][0], record["problems"][0]["resources"]):
        part["surprise"] = 1
    code, told = validate(edit.build())
    assert code == 0, told


def test_a_status_changed_in_the_manifest_is_found(validate, edit):
    edit.claim("fail")["status"] = "timeout"
    code, told = validate(edit.build())
    assert code == 1
    assert "its status is failed; the manifest says timeout" in told


def test_the_standalone_run_must_be_there(validate, edit):
    edit.forget("sa")
    code, told = validate(edit.build())
    assert code == 1
    assert "the standalone run (sa) that its Tr⁻¹ needs is not here" in told


@pytest.mark.parametrize("change", [{"seed": 3}, {"realisation": 1, "realisation_seed": 31}])
def test_lucky_realisations_and_seeds_are_found(validate, edit, change):
    for record in edit.records.values():
        record["job"] |= change
    code, told = validate(edit.build())
    assert code == 1
    assert "seeds must count from 0 without gaps" in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"realisation_seed": 99}, "realisation 0 of S_pl has seed 30, not 99"),
        ({"sequence": "S_easy"}, "suite 'tiny' has no sequence 'S_easy'"),
        ({"scale": "huge"}, "suite 'tiny' has no scale 'huge'"),
        ({"protocol": "mine"}, "suite 'tiny' has no protocol 'mine'"),
        ({"data": "mine"}, "suite 'tiny' has no data 'mine'"),
    ],
)
def test_what_the_suite_does_not_have_is_found(validate, edit, change, words):
    for record in edit.records.values():
        record["job"] |= change
    code, told = validate(edit.build())
    assert code == 1
    assert words in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"suite": "elsewhere"}, "suite 'elsewhere' is not installed here"),
        ({"suite_version": "0"}, "has version '1' here, and these results are of version '0'"),
        ({"data": "images"}, "needs images that are not here"),
    ],
)
def test_what_cannot_be_checked_here_is_neither_sound_nor_unsound(validate, edit, change, words):
    for record in edit.records.values():
        record["job"] |= change
    code, told = validate(edit.build())
    assert code == 2
    assert words in told
    assert "neither sound nor unsound" in told
    assert "\nsound" not in told


def test_an_algorithm_that_is_not_installed_is_checked_all_the_same(validate, edit):
    edit.records["constant"]["job"] |= {
        "algorithm": "theirs", "load": "theirs:Theirs", "provider": "theirs 2.0"
    }  # fmt: skip
    sound = edit.build()
    assert validate(sound)[0] == 0
    higher(edit.records["constant"])
    assert validate(edit.build())[0] == 1


def test_a_suite_that_raises_is_told_not_thrown(validate, edit, monkeypatch):
    suite = registry().suite("tiny")
    monkeypatch.setattr(type(suite), "sequence", lambda *_, **__: 1 / 0)
    code, told = validate(edit.build())
    assert code == 2
    assert "ZeroDivisionError" in told


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("job", "threads"), True, "record.job.threads: expected `int`, found True"),
        (("job", "algorithm"), "<script>", "does not match"),
        (("job", "algorithm"), "a\n::error::b", "does not match"),
        (("job", "surprise"), 1, "record.job.surprise: unknown field"),
        (("job", "seed"), -1, "record.job.seed: expected `int` >= 0, found -1"),
        (("job", "options"), {"a": [1]}, "not a single value"),
        (("schema",), 2, "record.schema is 2, not 1"),
        (("status",), "splendid", "record.status is splendid"),
        (("problems",), "many", "record.problems: expected `array`, found 'many'"),
        (("problems", 0, "classes"), 2.5, "problems[0].classes: expected `int`, found 2.5"),
        (("problems", 0, "resources", "wall_s"), -1, "wall_s: expected `float` >= 0.0, found -1"),
        (
            ("problems", 0, "resources", "flop_coverage"),
            "all",
            "flop_coverage: expected `float | null`, found 'all'",
        ),
        (
            ("problems", 0, "accuracy_final"),
            1.5,
            "accuracy_final: expected `float` <= 1.0, found 1.5",
        ),
        (("matrix", 0), [float("nan")], "NaN is not a number"),
        (("metrics", "A"), float("inf"), "Infinity is not a number"),
        (("notes",), ["/home/me/secret/x.py"], "holds a path of a machine"),
    ],
)
def test_a_record_of_the_wrong_form_is_told(validate, edit, place, value, words):
    part = edit.records["constant"]
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    code, told = validate(edit.build(rename=False))
    assert code == 1
    assert words in told
    assert "\n::error" not in told, "no line of a CI's log begins as the file likes"


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"a":1,"a":2}'])
def test_a_manifest_that_is_none_is_refused(validate, edit, manifest):
    code, told = validate(zipped({"manifest.json": manifest}))
    assert code == 2
    assert "is refused: manifest.json" in told


def test_no_manifest_or_no_file_or_a_folder(validate, tmp_path, capsys):
    from bell_bench.cli.verbs import run

    assert "has no manifest.json" in validate(zipped({"a": b""}))[1]
    for file in (tmp_path / "absent.zip", tmp_path):
        assert run(["validate", str(file)]) == 2
        assert "cannot be read" in capsys.readouterr().err


def test_files_that_the_manifest_does_not_list_or_that_lack(validate, content):
    made = Editable.of(content)
    manifest = json.dumps(made.manifest).encode()
    files = {**made.files, "manifest.json": manifest}
    code, told = validate(zipped({**files, "jobs/more/record.json": b"{}"}))
    assert code == 1
    assert "jobs/more/record.json is not in the manifest's list of files" in told
    gone = next(name for name in made.files if name.endswith(".npz"))
    code, told = validate(zipped({k: v for k, v in files.items() if k != gone}))
    assert code == 1
    assert f"{gone} is missing" in told


def test_validating_imports_no_torch(made, content, tmp_path):
    (tmp_path / "s.zip").write_bytes(content)
    code = (
        "import sys; from bell_bench.cli.verbs import run\n"
        "code = run(['validate', sys.argv[1]])\n"
        "sys.exit(code or 10 * ('torch' in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "s.zip")], env=made.environment, timeout=120
    )
    assert done.returncode == 0


WRITTEN: list[str] = []
"""What was opened for writing, made or moved while ``watching`` was set."""
watching = threading.Event()


def _note_writes(event: str, arguments: tuple) -> None:
    if not watching.is_set():
        return
    made = event in ("os.mkdir", "os.rename", "os.link", "os.symlink")
    flags = arguments[2] if event == "open" else 0
    if made or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        WRITTEN.append(f"{event} {arguments[0]}")


sys.addaudithook(_note_writes)


def test_writes_are_noted(tmp_path):
    """So that the test below can fail."""
    watching.set()
    (tmp_path / "a").write_text("x")
    watching.clear()
    assert WRITTEN.pop() == f"open {tmp_path / 'a'}"


def mutated(data: st.DataObject, content: bytes) -> bytes:
    """Bytes changed, cut out, doubled or cut off."""
    broken = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(broken)))
        length = data.draw(st.sampled_from([1, 2, 8, 200]))
        kind = data.draw(st.sampled_from(["change", "cut", "double", "end"]))
        if kind == "change":
            broken[start : start + length] = data.draw(st.binary(min_size=1, max_size=length))
        elif kind == "cut":
            del broken[start : start + length]
        elif kind == "double":
            broken[start:start] = broken[start : start + length]
        else:
            del broken[start:]
    return bytes(broken)


def refused_or_told(content: bytes) -> list[str]:
    """What is wrong with a submission; nothing but ``Refused`` may be raised, nothing written."""
    watching.set()
    try:
        return check(Submission(Archive(content, LIMITS))).faults
    except Refused as error:
        return [str(error)]
    finally:
        watching.clear()
        assert not WRITTEN


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_mutated_archive_gets_a_traceback_or_writes_anything(tiny, content, data):
    broken = mutated(data, content)
    assert refused_or_told(broken) or Editable.of(broken).files == Editable.of(content).files


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_mutated_file_in_a_whole_archive_does_either(tiny, content, data):
    """With checksums that fit, so that every parser inside is reached."""
    made = Editable.of(content)
    files = {**made.files, "manifest.json": json.dumps(made.manifest).encode()}
    name = data.draw(st.sampled_from(sorted(files)))
    before = files[name]
    files[name] = mutated(data, before)
    if name != "manifest.json":
        made.manifest["files"][name] = sha256(files[name])
        files["manifest.json"] = json.dumps(made.manifest).encode()
    found = refused_or_told(zipped(files))
    if name.endswith(".npz"):
        assert found or files[name] == before
