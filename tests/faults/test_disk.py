"""A full disk and a read-only store, on file systems made for it."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Iterator

import pytest

from tests.harness.conftest import House, build
from tests.plugin_folder import make_distribution

pytestmark = pytest.mark.slow

FILLING = """
import os
from bell_bench import AlgorithmSpec, hookimpl
from tiny import OPTIONS, Constant

class Fill(Constant):
    "Takes all there is of the disk."
    def misbehave(self):
        with open(self.context.library.folder.parents[2] / "filler", "wb", buffering=0) as file:
            block = bytes(2**20)
            try:
                while True:
                    file.write(block)
            except OSError:
                os.fsync(file.fileno())

@hookimpl
def bell_bench_algorithms():
    yield AlgorithmSpec("fill", "filling:Fill", "for tests", options=OPTIONS)
"""


class Disk:
    """A file system of its own, in memory."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def mount(self, options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "bell-bench-test", str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: pathlib.Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = Disk(folder)
    disk.mount("size=600m")
    yield disk
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def house(tmp_path: pathlib.Path, disk: Disk) -> House:
    (tmp_path / "house").mkdir()
    house = build(tmp_path / "house")
    make_distribution(house.folder / "plugins", "filling", FILLING)
    return house


def test_a_full_disk_is_told_and_the_same_command_goes_on_once_there_is_room(house, disk):
    out = disk.folder / "runs"
    until = house.folder / "mended"
    arguments = ("--algo", "fill", "--option", f"fill.until={until}", "--algo", "constant",
                 "--jobs", "1", "--out", str(out))  # fmt: skip
    full = house.evaluate(*arguments)
    assert full.returncode == 1, full.stderr
    assert "Traceback" not in full.stderr
    assert "This is a fault of" not in full.stderr
    assert "No space left on device" in full.stderr
    still = house.evaluate(*arguments)
    assert still.returncode == 1
    assert "only 0 bytes free" in still.stderr
    assert "free some, or choose another --out" in still.stderr
    read = house.bell_bench("leaderboard", str(out))
    assert read.returncode == 0, read.stderr
    (out / "filler").unlink()
    until.touch()
    again = house.evaluate(*arguments)
    assert again.returncode == 0, again.stderr
    assert "resumed after problem 2" in again.stderr
    assert not list(out.rglob(".writing-*"))


def test_a_read_only_store_can_be_read_and_not_run_on(house, disk):
    out = disk.folder / "runs"
    assert house.evaluate("--algo", "sa", "--out", str(out)).returncode == 0
    evaluation = next(out.glob("evaluations/*/*.safetensors"))
    evaluation.write_bytes(evaluation.read_bytes()[:-1])
    disk.mount("remount,ro")
    refused = house.evaluate("--algo", "constant", "--out", str(out))
    assert refused.returncode == 2
    assert "cannot be written to: choose another folder" in refused.stderr
    assert house.bell_bench("leaderboard", str(out)).returncode == 0
    assert house.bell_bench("show", str(out)).returncode == 0
    assert house.bell_bench("cache", "info", "--out", str(out)).returncode == 0
    checked = house.bell_bench("cache", "verify", "--out", str(out))
    assert checked.returncode == 1
    assert "damaged, and cannot be dropped" in checked.stdout
    for arguments in (
        ("cache", "clear", "--yes", "--out", str(out)),
        ("leaderboard", str(out), "--csv", str(out / "rows.csv")),
        ("submit", str(out), "--out", str(out / "mine.zip")),
    ):
        done = house.bell_bench(*arguments)
        assert done.returncode == 1, arguments
        assert "Traceback" not in done.stderr
        assert "This is a fault of" not in done.stderr
