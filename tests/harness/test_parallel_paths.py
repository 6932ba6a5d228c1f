"""Paths evaluated at once give the run that one after the other gives."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import time

import psutil
import pytest

from tests.harness.conftest import House, build
from tests.harness.figures import COUNTS, asked, figures
from tests.harness.patient import PATIENT, computed
from tests.plugin_folder import make_distribution

pytestmark = pytest.mark.slow

ALGORITHMS = ("houdini", "rs", "picle")
FEW = ("--option", "houdini.paths=6", "--option", "rs.trainings=2")
COMPUTED = (*COUNTS, "paths_computed")


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> House:
    house = build(tmp_path_factory.mktemp("house"))
    make_distribution(house.folder / "plugins", "patient", PATIENT)
    (house.folder / "patient").touch()
    return house


def command(house: House, paths: int, out: str, *arguments: str) -> list[str]:
    return house.command(
        "evaluate", "--suite", "tiny", "--sequence", "S_pl", *arguments,
        "--jobs", "1", "--parallel-paths", str(paths), "--out", out,
    )  # fmt: skip


@pytest.fixture(scope="module")
def alone(house) -> pathlib.Path:
    """A run with one path at a time."""
    run(house, 1, "alone")
    return house.folder / "alone"


def run(house: House, paths: int, out: str) -> None:
    done = subprocess.run(
        command(house, paths, out, *asked(*ALGORITHMS), *FEW),
        env=house.environment, cwd=house.folder, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_choices_figures_and_charges_are_those_of_one_at_a_time(house, alone):
    before = len(house.observed())
    run(house, 2, "ahead")
    assert figures(house.folder / "ahead", COMPUTED) == figures(alone, COMPUTED)
    processes = {process for _, process in computed(house.observed()[before:])}
    assert len(processes) == 2 * len(ALGORITHMS), "each job's own, and one that helps it"


def test_a_process_that_dies_costs_time_alone(house, alone):
    with subprocess.Popen(
        command(house, 2, "killed", *asked("houdini"), *FEW[:2]),
        env=house.environment, cwd=house.folder, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        wait_for_helper(process).kill()
        errors = process.communicate(timeout=300)[1]
    assert process.returncode == 0, errors
    assert figures(house.folder / "killed")["houdini"] == figures(alone)["houdini"]
    (log,) = (house.folder / "killed").glob("*-houdini-*/log.txt")
    assert "one of its processes died; going on without" in log.read_text()


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
