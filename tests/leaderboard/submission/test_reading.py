"""A submission is read as its runs are: by the leaderboard, alone or among others in a folder."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from bell_bench.records import read_records
from bell_bench.records.reading import RECOMPUTED
from bell_bench_leaderboard import result_rows
from tests.leaderboard.submission.conftest import zipped


def figures(records):
    return sorted(
        (row["algorithm"], row["status"], row["A"], row["F"], row["Tr_last"])
        for row in result_rows(records)
    )


def test_it_gives_the_rows_of_the_runs_it_was_made_of(content, runs, tmp_path):
    file = tmp_path / "mine.zip"
    file.write_bytes(content)
    packed, plain = read_records([file]), read_records([runs])
    assert figures(packed) == figures(plain)
    assert {record.check for record in packed if record.done} == {RECOMPUTED}
    assert [record.checked_matrix for record in packed] == [
        record.checked_matrix for record in sorted(plain, key=lambda record: str(record.place))
    ]


def test_a_folder_of_submissions_is_read_and_a_job_counts_once(content, runs, tmp_path):
    published = tmp_path / "published"
    published.mkdir()
    (published / "one.zip").write_bytes(content)
    (published / "again.zip").write_bytes(content)
    assert figures(read_records([published])) == figures(read_records([runs]))


def test_what_was_changed_is_left_out_and_told(content, tmp_path):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in files if name.endswith("predictions.npz"))
    file = tmp_path / "changed.zip"
    file.write_bytes(zipped({**files, name: files[name] + b" "}))
    with pytest.warns(UserWarning, match="was changed"):
        records = read_records([file])
    assert records
    assert name.split("/")[1] not in {str(record.place).rpartition("/")[2] for record in records}


@pytest.mark.parametrize("change", ["removed", "removed and unlisted", "added"])
def test_a_file_whose_files_are_not_the_manifests_is_refused(content, tmp_path, change):
    """Without its predictions, a job's accuracies would be believed as they are recorded."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    if change == "added":
        files["jobs/more.txt"] = b""
    else:
        name = next(name for name in files if name.endswith("predictions.npz"))
        del files[name]
        if change == "removed and unlisted":
            manifest = json.loads(files["manifest.json"])
            del manifest["files"][name]
            files["manifest.json"] = json.dumps(manifest).encode()
    file = tmp_path / "changed.zip"
    file.write_bytes(zipped(files))
    told = "more.txt is not in the manifest" if change == "added" else "predictions.npz is missing"
    with pytest.warns(UserWarning, match=f"refused: .*{told}"):
        assert read_records([file]) == []


def test_what_is_no_submission_is_told(tmp_path):
    file = tmp_path / "other.zip"
    file.write_bytes(b"not a zip")
    with pytest.warns(UserWarning, match="refused"):
        assert read_records([file]) == []
