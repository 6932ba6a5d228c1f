"""Reading runs: what is recomputed, what is refused, what is told."""

from __future__ import annotations

import functools
import io
import json
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bell_bench.files import read_arrays, sha256, write_arrays
from bell_bench.records import read_records
from bell_bench.records.predictions import accuracy, read_predictions
from tests.leaderboard.making import record, result_rows, write_run


def edit(folder, change):
    file = folder / "record.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def test_records_are_found_in_folders_of_runs_and_in_job_folders(tmp_path):
    for seed in (0, 1):
        write_run(tmp_path / f"job{seed}", record(seed=seed))
    assert len(read_records([tmp_path])) == 2
    assert len(read_records([tmp_path / "job0"])) == 1


def test_accuracies_are_recomputed(tmp_path):
    write_run(tmp_path / "job", record(learnt=(0.9, 0.8), final=(0.7, 0.8)))
    (found,) = read_records([tmp_path])
    assert found.status == "done"
    assert found.check == "recomputed from predictions"
    assert result_rows([found])[0]["F"] == pytest.approx(-10)


def test_an_edited_accuracy_is_a_mismatch_and_has_no_score(tmp_path):
    folder = write_run(tmp_path / "job", record())
    edit(folder, lambda content: content["problems"][1].update(accuracy_final=0.99))
    (found,) = read_records([tmp_path])
    assert found.status == "mismatch"
    assert "accuracy_final of problem 2 is 0.99 in the record, 0.8" in found.reason
    assert result_rows([found])[0]["A"] is None


@pytest.mark.parametrize("predictions", [True, False])
def test_an_edited_metric_is_a_mismatch(tmp_path, predictions):
    folder = write_run(tmp_path / "job", record())
    edit(folder, lambda content: content.update(metrics={"A": 99.0}))
    if not predictions:
        (folder / "predictions.npz").unlink()
    (found,) = read_records([tmp_path])
    assert found.status == "mismatch"
    assert "A is 99 in the record, 85" in found.reason


def test_swapped_predictions_are_a_mismatch(tmp_path):
    folder = write_run(tmp_path / "job", record())
    file = folder / "predictions.npz"
    arrays = read_arrays(file)
    write_arrays(file, arrays | {"extra_0": np.zeros(3, np.uint8)})
    (found,) = read_records([tmp_path])
    assert found.status == "mismatch"
    assert "hash differs" in found.reason


def test_without_predictions_the_record_is_believed_and_that_is_told(tmp_path):
    folder = write_run(tmp_path / "job", record())
    (folder / "predictions.npz").unlink()
    (found,) = read_records([tmp_path])
    assert found.status == "done"
    assert found.check.startswith("as recorded")


@pytest.mark.parametrize("spoil", ["truncate", "float", "short", "flip"])
def test_predictions_that_cannot_be_scored_are_a_mismatch(tmp_path, spoil):
    folder = write_run(tmp_path / "job", record())
    file = folder / "predictions.npz"
    arrays = read_arrays(file)
    if spoil == "truncate":
        file.write_bytes(file.read_bytes()[:-40])
    elif spoil == "float":
        write_arrays(file, arrays | {"final_0": arrays["final_0"].astype(float)})
    elif spoil == "short":
        write_arrays(file, arrays | {"final_0": arrays["final_0"][:-1]})
    else:
        content = bytearray(file.read_bytes())
        with zipfile.ZipFile(file) as archive:
            second = archive.infolist()[1].header_offset
        content[second - 8] ^= 0xFF  # in the first array's data
        file.write_bytes(content)
    edit(folder, lambda content: content.update(predictions_sha256=sha256(file.read_bytes())))
    (found,) = read_records([tmp_path])
    assert found.status == "mismatch"


def test_our_reader_gives_what_numpy_gives(tmp_path):
    random = np.random.RandomState(0)
    arrays = {
        "labels_0": random.randint(0, 8, 50).astype(np.uint8),
        "learnt_0": random.randint(0, 300, 50).astype(np.int64),
        "final_0": random.randint(0, 8, 50).astype(np.uint8),
        "after_0_0": random.randint(0, 8, 50).astype(np.uint8),
    }
    for number, save in enumerate((np.savez_compressed, np.savez)):
        file = tmp_path / f"{number}.npz"
        save(file, **arrays)
        found = read_predictions(file.read_bytes(), matrix=True)
        assert found.keys() == arrays.keys()
        for name, values in arrays.items():
            np.testing.assert_array_equal(found[name], values)
            assert found[name].dtype == values.dtype
        assert "after_0_0" not in read_predictions(file.read_bytes())
    assert accuracy(found, "final_0", 0) == np.mean(arrays["final_0"] == arrays["labels_0"])


@functools.cache
def stored():
    buffer = io.BytesIO()
    np.savez_compressed(buffer, labels_0=np.arange(40) % 3, final_0=np.arange(40) % 2)
    return buffer.getvalue()


@settings(deadline=None)
@given(st.integers(0, len(stored()) - 1), st.integers(1, 255), st.integers(0, 3))
def test_a_damaged_file_gives_the_same_numbers_or_is_refused(place, change, cut):
    content = bytearray(stored())
    content[place] ^= change
    del content[len(content) - cut :]
    try:
        found = read_predictions(bytes(content))
    except ValueError:
        return
    for name, values in read_predictions(stored()).items():
        if name in found:  # a name in the directory may have been hit
            np.testing.assert_array_equal(found[name], values)


@pytest.mark.parametrize("stated", [1.0, 0.123])
def test_the_matrix_is_recomputed_too(tmp_path, stated):
    """Its accuracies decide the scores at a budget: invented ones make the record a mismatch."""
    folder = tmp_path / "job"
    content = record(learnt=(0.5,))
    content["matrix"] = [[stated]]
    write_run(folder, content)
    file = folder / "predictions.npz"
    arrays = read_arrays(file)
    write_arrays(file, arrays | {"after_0_0": arrays["labels_0"]})
    edit(folder, lambda content: content.update(predictions_sha256=sha256(file.read_bytes())))
    (found,) = read_records([tmp_path])
    if stated == 1.0:
        assert found.status == "done"
        assert found.checked_matrix == [[1.0]]
    else:
        assert found.status == "mismatch"
        assert "after 1 of problem 1 is 0.123 in the record, 1 by the" in found.reason
        assert found.checked_matrix == []


def test_a_matrix_without_its_predictions_is_a_mismatch(tmp_path):
    content = record(learnt=(0.5,))
    content["matrix"] = [[0.5]]
    write_run(tmp_path / "job", content)
    (found,) = read_records([tmp_path])
    assert found.status == "mismatch"
    assert "after_0_0" in found.reason


def test_a_file_that_is_no_record_is_named_and_left_out(tmp_path):
    broken = ["{", '{"schema": 99}', "[]", '{"schema": 1, "status": "done", "job": {}}',
              json.dumps(record(learnt=(7.0,))), json.dumps(record(algorithm=3)),
              json.dumps(record(learnt=(float("nan"),))), json.dumps(record(learnt=())),
              json.dumps(record() | {"matrix": [[0.9]]}),
              json.dumps(record(resources={"cpu_s": "much"})),
              json.dumps(record(resources={"wall_s": -1.0})),
              json.dumps(record(resources={"flop_coverage": "all"})),
              json.dumps(record(resources={"flop_coverage": []})),
              json.dumps(record(resources={"flop_coverage": 1.1})),
              json.dumps(record() | {"environment": None}),
              json.dumps(record() | {"metrics": [1]}),
              json.dumps(record() | {"metrics": {"A": "x"}}),
              *(json.dumps(record() | {"problems": [{**problem, name: value}], "matrix": []})
                for problem in record()["problems"][:1]
                for name, value in (("classes", 0), ("classes", "x"), ("path", "x")))]  # fmt: skip
    for number, text in enumerate(broken):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "record.json").write_text(text)
    write_run(tmp_path / "fine", record())
    with pytest.warns(UserWarning, match="is left out") as told:
        assert len(read_records([tmp_path])) == 1
    assert len(told) == len(broken)


def test_a_job_without_a_record_is_unfinished(tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "job.json").write_text(json.dumps(record()["job"]))
    (found,) = read_records([tmp_path])
    assert found.status == "unfinished"


def test_a_job_counts_once_and_what_is_done_wins(tmp_path):
    write_run(tmp_path / "a" / "job", record(status="timeout"))
    write_run(tmp_path / "b" / "job", record())
    write_run(tmp_path / "c" / "job", record())
    (found,) = read_records([tmp_path / name for name in "abc"])
    assert found.status == "done"
    assert str(found.place) == str(tmp_path / "b" / "job")


def test_the_same_job_on_another_machine_takes_other_seconds(tmp_path):
    write_run(tmp_path / "a" / "job", record())
    write_run(tmp_path / "b" / "job", record(resources={"wall_s": 9.0}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_records([tmp_path / name for name in "ab"])) == 1


def test_the_same_job_with_other_figures_is_told(tmp_path):
    write_run(tmp_path / "a" / "job", record())
    write_run(tmp_path / "b" / "job", record(learnt=(0.1, 0.2)))
    with pytest.warns(UserWarning, match="other figures"):
        (found,) = read_records([tmp_path / "a", tmp_path / "b"])
    assert found.problems[0].accuracy_final == 0.9


def test_records_of_before_the_software_was_named_are_read(tmp_path):
    content = record()
    del content["job"]["software"]
    write_run(tmp_path / "job", content)
    (found,) = read_records([tmp_path])
    assert result_rows([found])[0]["variant"]["software"] == ""
