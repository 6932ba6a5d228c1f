"""Plugins that go wrong: their own row fails, with the right status and within the limit; all else
finishes. More of them in tests/harness/test_evaluate.py: raising, os._exit, leaking, wrong shapes.
"""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import time

import psutil
import pytest

from tests.faults.faulty import DEADLY, FAULTY
from tests.harness.conftest import Completed, House, build
from tests.plugin_folder import make_distribution
from tests.processes import workers_of

pytestmark = pytest.mark.slow

MEMORY = "1500 MB"
LIMIT = 12
QUICK = {
    "nan": ("failed", "scores that are not finite", 0),
    "complex": ("failed", "real numbers, not torch.complex64", 0),
    "listed": ("failed", "a tensor, not list", 0),
    "whole": ("done", "", 6),
    "breed": ("out-of-memory", "over the limit of 1.5 GB", 2),
    "share": ("done", "", 6),
    "abandon": ("failed", "exit code 5", 2),
    "flood": ("failed", "its log grew over", 2),
    "crash": ("failed", "SIGSEGV", 2),
    "homeless": ("done", "", 6),
    "nothing": ("failed", "exit code 1", 0),
    "leaving": ("failed", "exit code 7 and no result while it imported leaving:Leaving", 0),
    "bursting": ("failed", "SIGSEGV while it imported bursting:Bursting", 0),
    "constant": ("done", "", 6),
}  # fmt: skip
"""Status, words of the reason and solved problems of those that end by themselves."""
HANGING = ("deaf", "native")


class Hospital(House):
    """A house with faulty plugins, which write down the children they start."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "CHILDREN": str(self.folder / "children.txt")}

    def children(self) -> list[int]:
        file = self.folder / "children.txt"
        return [int(line) for line in file.read_text().split()] if file.exists() else []


def algorithms(*names: str) -> list[str]:
    return [part for name in names for part in ("--algo", name)]


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    house = Hospital(build(tmp_path_factory.mktemp("faulty")).folder, patience=1200)
    make_distribution(house.folder / "plugins", "faulty", FAULTY)
    for name, source in DEADLY.items():
        (house.folder / "plugins" / f"{name}.py").write_text(source)
    make_distribution(house.folder / "plugins", "deadly", "import leaving")
    return house


@pytest.fixture(scope="module")
def ended(hospital: Hospital) -> Completed:
    """One run of all that end by themselves."""
    return hospital.evaluate(*algorithms(*QUICK), "--memory", MEMORY, "--jobs", "2")


@pytest.mark.parametrize("name", QUICK)
def test_a_faulty_plugin_costs_its_own_row(hospital, ended, name):
    status, words, solved = QUICK[name]
    record = hospital.record(name)
    assert (record["status"], len(record["problems"])) == (status, solved), record["reason"]
    assert words in record["reason"]
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


def test_what_cannot_be_imported_is_told_before_the_run(ended):
    assert "loading leaving:Leaving ends the process with exit code 7" in ended.stderr
    assert "loading bursting:Bursting ends the process with SIGSEGV" in ended.stderr


def test_a_plugin_that_ends_every_process_is_named_and_left_out(hospital, ended):
    words = "plugin 'deadly' of deadly 0.1 is broken: loading deadly:deadly ends the process with"
    assert ended.stderr.count(f"{words} exit code 7") == 1
    done = hospital.bell_bench("list")
    assert done.returncode == 0
    assert f"{words} exit code 7" in done.stderr
    assert "bursting" in done.stdout


def test_what_they_started_is_gone_with_them(hospital, ended):
    assert len(hospital.children()) == 5  # three of breed, one each of share and abandon
    assert not any(alive(child) for child in hospital.children())


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_a_log_that_was_flooded_does_not_end_the_next_attempt(hospital, ended):
    """A job's options are part of it, so the fault is mended by changing the plugin's code."""
    source = (hospital.folder / "plugins" / "faulty.py").read_text()
    mended = source.replace('sys.stdout.write("no end " * 100_000)', "break")
    assert mended != source
    (hospital.folder / "plugins" / "faulty.py").write_text(mended)
    done = hospital.evaluate("--algo", "flood")
    assert done.returncode == 0, done.stderr
    assert "resumed after problem 2" in done.stderr


def test_what_hangs_is_ended_at_its_limit_even_in_native_code(hospital, ended):
    began = time.monotonic()
    done = hospital.evaluate(*algorithms(*HANGING), "--timeout", f"{LIMIT}s", "--jobs", "2")
    assert done.returncode == 1
    assert time.monotonic() - began < 10 * LIMIT
    for name in HANGING:
        record = hospital.record(name)
        assert record["status"] == "timeout"
        assert f"over the limit of {LIMIT} s" in record["reason"]


def test_a_hang_in_native_code_does_not_outlive_its_parent(hospital, ended):
    with subprocess.Popen(
        hospital.command("evaluate", "--suite", "tiny", "--sequence", "S_pl", "--algo", "native",
                         "--seed", "1", "--jobs", "1"),
        env=hospital.environment, cwd=hospital.folder, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        (hospital.folder / "observed.txt").unlink()
        deadline = time.monotonic() + 120
        while "solved native 1" not in hospital.observed():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(1)
        workers = workers_of(psutil.Process(process.pid))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert workers
    assert not psutil.wait_procs(workers, 15)[1]


def test_the_store_of_a_run_with_faults_can_be_read(hospital, ended):
    done = hospital.bell_bench("leaderboard")
    assert done.returncode == 0, done.stderr
    for name in QUICK:
        assert name in done.stdout
    assert not list(pathlib.Path(hospital.folder / "runs").glob("*/.writing-*"))
