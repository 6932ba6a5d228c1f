"""Two runs at work on one store; tests/harness/test_evaluate.py has that they do nothing twice."""

from __future__ import annotations

import pathlib
import subprocess
import time

import psutil
import pytest

from tests.harness.conftest import House, build

pytestmark = pytest.mark.slow

LIMIT = 20
WAITS = "another run is at work on it; waiting"


def start(house: House, *arguments: str) -> tuple[psutil.Popen, pathlib.Path]:
    """A run of one job that stops at its third problem until a file exists, and what it tells."""
    log = house.folder / f"told-{len(list(house.folder.glob('told-*')))}.txt"
    until = f"hang.until={house.folder / 'mended'}"
    command = house.command("evaluate", "--suite", "tiny", "--sequence", "S_pl", "--algo", "hang",
                            "--option", until, "--jobs", "1", *arguments)  # fmt: skip
    with log.open("wb") as stderr:
        process = psutil.Popen(
            command, env=house.environment, cwd=house.folder, stderr=stderr,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
    return process, log


def wait_until(log: pathlib.Path, words: str) -> None:
    deadline = time.monotonic() + 200
    while words not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


def test_who_waits_is_told_so_loses_no_time_and_takes_over(tmp_path):
    house = build(tmp_path)
    first, told = start(house)
    wait_until(told, "problem 2/6")
    second, told = start(house, "--timeout", f"{LIMIT}s")
    wait_until(told, WAITS)
    time.sleep(LIMIT + 1)
    assert second.poll() is None, "waiting is no part of its time"
    assert not list((tmp_path / "runs").glob("*-hang-*/record.json"))
    (tmp_path / "mended").touch()
    first.kill()
    first.wait()
    assert second.wait(200) == 0, told.read_text()
    assert "hang S_pl r0 s0: resumed after problem 2" in told.read_text()
    assert house.record("hang")["resumed"] == [2]
    assert len(house.record("hang")["problems"]) == 6


def test_a_run_that_waits_and_is_stopped_leaves_the_others_job_alone(tmp_path):
    house = build(tmp_path)
    first, told = start(house)
    wait_until(told, "problem 2/6")
    second, waiting = start(house)
    wait_until(waiting, WAITS)
    second.terminate()
    assert second.wait(60) == 130, waiting.read_text()
    assert not list((tmp_path / "runs").glob("*-hang-*/record.json"))
    assert first.poll() is None
    first.terminate()
    assert first.wait(60) == 130, told.read_text()
    assert house.record("hang")["status"] == "interrupted"
