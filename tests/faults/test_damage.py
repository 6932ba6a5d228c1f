"""Damaged, truncated and old files: a clear message or a repair, never a wrong number."""

from __future__ import annotations

import csv
import json
import pathlib
import re
import shutil
import warnings
from collections.abc import Callable

import pytest

from bell_bench.errors import BellBenchError
from bell_bench.files import SEAL, seal
from bell_bench.harness.state import Checkpoints
from bell_bench.records import JobFolder, read_records
from bell_bench_leaderboard import result_rows
from tests.harness.conftest import House, build

pytestmark = pytest.mark.slow

ALGORITHMS = ("constant", "mntdp-d", "sa")
MEASURED = {"wall_s", "cpu_s", "peak_memory_mb"}


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip(content: bytes) -> bytes:
    """One bit, in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def lower_a_digit(content: bytes) -> bytes:
    """Of a cost, so that it is still a number: what no parser would notice."""
    at = re.search(rb'"updates": (?=[2-9])', content).end()
    return content[:at] + bytes([content[at] - 1]) + content[at + 1 :]


def nothing(content: bytes) -> bytes:
    return b""


def noise(content: bytes) -> bytes:
    return bytes(range(256)) * 4


DAMAGES = (cut, flip, nothing, noise)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> House:
    house = build(tmp_path_factory.mktemp("sound"))
    done = evaluate(house)
    assert done.returncode == 0, done.stderr
    return house


def evaluate(house: House):
    asked = [part for name in ALGORITHMS for part in ("--algo", name)]
    return house.evaluate(*asked, "--csv", "rows.csv")


@pytest.fixture
def house(made: House, tmp_path: pathlib.Path) -> House:
    """A copy that may be damaged."""
    shutil.copytree(made.folder, tmp_path / "copy")
    return House(tmp_path / "copy")


def job(house: House, algorithm: str) -> JobFolder:
    (path,) = (house.folder / "runs").glob(f"*-{algorithm.replace('-', '_')}-*")
    return JobFolder(path)


def damage(file: pathlib.Path, how: Callable[[bytes], bytes]) -> None:
    before = file.read_bytes()
    file.write_bytes(how(before))
    assert file.read_bytes() != before


def rows(house: House) -> dict[str, dict[str, object]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = read_records([house.folder / "runs"])
    return {row["algorithm"]: row for row in result_rows(records)}


@pytest.mark.parametrize("how", [*DAMAGES, lower_a_digit])
def test_a_damaged_record_gives_no_number_and_is_made_again(made, house, how):
    folder = job(house, "mntdp-d")
    damage(folder.record_file, how)
    found = rows(house)
    assert found["sa"] == rows(made)["sa"]
    assert "mntdp-d" not in found or found["mntdp-d"]["status"] in ("mismatch", "unfinished")
    assert not folder.finished()
    with pytest.raises(BellBenchError, match=r"record\.json (cannot be read|is not a record)"):
        folder.record()
    told = house.bell_bench("show", "mntdp_d") if how is flip else None
    if told is not None:
        assert told.returncode == 1
        assert "run the same command again" in told.stderr


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_predictions_give_no_number_and_are_made_again(made, house, how):
    folder = job(house, "mntdp-d")
    damage(folder.predictions_file, how)
    found = rows(house)
    assert found["mntdp-d"]["status"] == "mismatch"
    assert found["mntdp-d"].get("A") is None
    assert found["sa"] == rows(made)["sa"]
    assert not folder.finished()


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize(
    "name", ["complete", "state.json", "predictions.npz", "algorithm/library.json"]
)
def test_a_damaged_checkpoint_is_not_gone_on_from(house, name, how):
    checkpoints = Checkpoints(job(house, "mntdp-d").work / "checkpoints")
    newest = checkpoints.newest()
    assert newest is not None
    assert checkpoints.load() is not None
    damage(newest / name, how)
    with pytest.warns(UserWarning, match="is damaged"):
        assert checkpoints.load() is None


def test_an_older_schema_is_told_and_never_compared(house):
    folder = job(house, "mntdp-d")
    record = json.loads(folder.record_file.read_text())
    record.pop(SEAL)
    folder.record_file.write_text(json.dumps(seal({**record, "schema": 0})))
    with pytest.warns(UserWarning, match="schema is 0, not 1"):
        records = read_records([house.folder / "runs"])
    assert {record.job.algorithm for record in records} == {"constant", "sa"}
    with pytest.raises(
        BellBenchError, match=r"schema is 0, not 1.*another version of bell-bench wrote"
    ):
        folder.record()
    assert not folder.finished()


def test_a_record_from_before_seals_is_read(house):
    folder = job(house, "mntdp-d")
    record = json.loads(folder.record_file.read_text())
    record.pop(SEAL)
    folder.record_file.write_text(json.dumps(record))
    assert folder.finished()
    assert rows(house)["mntdp-d"]["status"] == "done"


def test_the_same_command_repairs_what_is_damaged(made, house):
    """All kinds at once: a record, predictions, a checkpoint's files, a library's, a job's
    description, evaluations, events and a log of noise."""
    damage(job(house, "constant").record_file, cut)
    damage(job(house, "constant").job_file, noise)
    damage(job(house, "sa").predictions_file, flip)
    (checkpoint,) = job(house, "sa").work.glob("checkpoints/*")
    damage(checkpoint / "state.json", lower_a_digit)
    modular = job(house, "mntdp-d")
    modular.record_file.unlink()
    for file in list(modular.work.glob("library/*"))[:3]:
        damage(file, flip)
    damage(modular.events_file, noise)
    modular.log_file.write_bytes(bytes(range(256)))
    for number, file in enumerate((house.folder / "runs").glob("evaluations/*/*.safetensors")):
        damage(file, DAMAGES[number % len(DAMAGES)])
    done = evaluate(house)
    assert done.returncode == 0, done.stderr
    assert "3 jobs to run" in done.stderr
    assert "resumed" not in done.stderr.replace("constant S_pl r0 s0: resumed", "")
    assert table(house) == table(made)


def table(house: House) -> list[dict[str, str]]:
    """The rows without what a clock measured."""
    found = csv.DictReader((house.folder / "rows.csv").open())
    return [{name: row[name] for name in row if name not in MEASURED} for row in found]
