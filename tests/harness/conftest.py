"""A suite so small that a whole run takes a second, and the command line run on it."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from tests.plugin_folder import make_distribution
from tests.tiny_suite import TINY

Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class House:
    """A folder in which the command line runs on the tiny suite."""

    folder: pathlib.Path
    patience: float = 300
    """Seconds that a command may take."""

    @property
    def environment(self) -> dict[str, str]:
        log = str(self.folder / "observed.txt")
        return {**os.environ, "PYTHONPATH": str(self.folder / "plugins"), "TINY_LOG": log}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "bell_bench", *arguments]

    def bell_bench(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            capture_output=True, text=True, env=self.environment, cwd=self.folder,
            timeout=self.patience,
        )  # fmt: skip

    def evaluate(self, *arguments: str, sequence: str = "S_pl") -> Completed:
        return self.bell_bench("evaluate", "--suite", "tiny", "--sequence", sequence, *arguments)

    def record(self, algorithm: str) -> dict[str, Any]:
        (file,) = (self.folder / "runs").glob(f"*-{algorithm}-*/record.json")
        return dict(json.loads(file.read_text()))

    def observed(self) -> list[str]:
        log = self.folder / "observed.txt"
        return log.read_text().splitlines() if log.exists() else []


def build(folder: pathlib.Path) -> House:
    (folder / "plugins").mkdir()
    make_distribution(folder / "plugins", "tiny", TINY)
    return House(folder)


@pytest.fixture
def house(tmp_path: pathlib.Path) -> House:
    return build(tmp_path)


@pytest.fixture(scope="package")
def _stood(tmp_path_factory: pytest.TempPathFactory) -> House:
    house = build(tmp_path_factory.mktemp("stood"))
    done = house.evaluate("--algo", "sa")
    assert done.returncode == 0, done.stderr
    return house


@pytest.fixture
def furnished(_stood: House, tmp_path: pathlib.Path) -> House:
    """A house in which the standalone run of S_pl is done, for tests of something else."""
    shutil.copytree(_stood.folder, tmp_path / "house")
    return House(tmp_path / "house")


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[House, Completed]:
    """One run of every well-behaved and misbehaved algorithm, which many tests look at."""
    house = build(tmp_path_factory.mktemp("shared"))
    algorithms = ("constant", "forgetful", "elsewhere", "fail", "leave", "die", "leak", "refuse",
                  "shapeless", "absent", "sa")  # fmt: skip
    asked = [part for name in algorithms for part in ("--algo", name)]
    return house, house.evaluate(*asked, "--memory", "2G", "--csv", "rows.csv")
