"""Paths evaluated at once give the run that one after the other gives."""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import time

import psutil
import pytest

from tests.harness.conftest import House, build
from tests.harness.figures import COUNTS, asked, figures

pytestmark = pytest.mark.slow

FEW = {
    "houdini": ("--option", "houdini.paths=9"),
    "rs": ("--option", "rs.trainings=3"),
}
COMPUTED = (*COUNTS, "paths_computed")


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> House:
    return build(tmp_path_factory.mktemp("house"))


def command(house: House, algorithm: str, paths: int, out: str) -> list[str]:
    return house.command(
        "evaluate", "--suite", "tiny", "--sequence", "S_pl", *asked(algorithm),
        *FEW.get(algorithm, ()), "--jobs", "1", "--parallel-paths", str(paths), "--out", out,
    )  # fmt: skip


def run(house: House, algorithm: str, paths: int) -> pathlib.Path:
    """The results of a run, made if they are not there."""
    out = house.folder / f"{algorithm}-{paths}"
    if not out.exists():
        done = subprocess.run(
            command(house, algorithm, paths, out.name),
            env=house.environment, cwd=house.folder, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("algorithm", ["houdini", "rs", "picle"])
def test_choices_figures_and_charges_are_those_of_one_at_a_time(house, algorithm):
    ahead = run(house, algorithm, 2)
    found = figures(ahead, COMPUTED)
    assert len(found[algorithm]["problems"]) == 6
    assert found == figures(run(house, algorithm, 1), COMPUTED)
    (file,) = ahead.glob(f"*-{algorithm.replace('-', '_')}-*/record.json")
    used = [problem["resources"] for problem in json.loads(file.read_text())["problems"]]
    charged, spent = (
        sum(each[name] for each in used) for name in ("cpu_seconds", "spent_cpu_seconds")
    )
    assert spent < charged, "some paths were trained in other processes"


def test_a_process_that_dies_costs_time_alone(house):
    with subprocess.Popen(
        command(house, "houdini", 2, "killed"),
        env=house.environment, cwd=house.folder, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        wait_for_helper(process).kill()
        errors = process.communicate(timeout=300)[1]
    assert process.returncode == 0, errors
    alone = figures(run(house, "houdini", 1))
    assert figures(house.folder / "killed")["houdini"] == alone["houdini"]


def wait_for_helper(run: subprocess.Popen[str]) -> psutil.Process:
    """A process that the job's own has spawned."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and run.poll() is None:
        for process in psutil.Process(run.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if "multiprocessing.spawn" in " ".join(process.cmdline()):
                    return process
        time.sleep(0.05)
    raise AssertionError("no such process")
