"""Runs many tiny jobs at once: does the parent's memory stay flat, and what does a job cost it?

python benchmarks/soak.py [JOBS]              # 2,000 jobs of light workers: minutes
python benchmarks/soak.py [JOBS] --real       # with real workers, which import torch: 1 to 2 hours

The parent is always the real one. A light worker is a process that reports and writes what a real
worker does, but learns nothing. With --real, the command line runs `sa` and a constant on a tiny
suite.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import psutil

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.faults.soak import Sample, watch  # noqa: E402
from tests.harness.conftest import build  # noqa: E402


def light(folder: pathlib.Path, jobs: int) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment of a run with light workers."""
    return [sys.executable, "-m", "tests.faults.soak", str(folder), str(jobs)], {
        **os.environ,
        "PYTHONPATH": str(ROOT),
    }


def real(folder: pathlib.Path, jobs: int) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment of a run by the command line, which adds half of the
    jobs itself: the standalone ones."""
    house = build(folder)
    asked = ("--suite", "tiny", "--sequence", "S_pl", "--algo", "constant", "--jobs", "2")
    out = str(folder / "runs")
    command = house.command("evaluate", *asked, "--realisations", str(jobs // 2), "--out", out)
    return command, house.environment


def print_sizes(samples: list[Sample], jobs: int) -> None:
    """Print the parent's size at every tenth of the run."""
    for tenth in range(1, 11):
        until = [each for each in samples if each.finished <= jobs * tenth / 10]
        print(f"  {until[-1].finished:6d} jobs finished: {until[-1].bytes / 1e6:7.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("jobs", nargs="?", type=int, default=2000)
    parser.add_argument("--real", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command, environment = (real if asked.real else light)(folder, asked.jobs)
        log = folder / "progress.txt"
        began = time.monotonic()
        with log.open("wb") as stderr:
            process = psutil.Popen(command, env=environment, stderr=stderr, stdout=subprocess.PIPE)
            samples = watch(process, log, every=1.0)
        print(process.stdout.read().decode().splitlines()[-1])
        print(f"{asked.jobs} jobs in {time.monotonic() - began:.0f} s, exit code {process.wait()}")
        print_sizes(samples, asked.jobs)
        lines = log.read_text().splitlines()
        print(f"progress: {len(lines)} lines, the last one:\n{lines[-1]}")


if __name__ == "__main__":
    main()
