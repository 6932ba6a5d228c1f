"""What GitHub is told to run is what anyone can run, by actions that nobody can exchange."""

from __future__ import annotations

import pathlib
import re
import subprocess
from typing import Any

import pytest
import yaml

ROOT = pathlib.Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TESTS = ROOT / ".github/workflows/tests.yml"


def steps(workflow: pathlib.Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def matrix() -> list[dict[str, str]]:
    found: list[dict[str, str]] = yaml.safe_load(TESTS.read_text())["jobs"]["tests"]["strategy"][
        "matrix"
    ]["include"]
    return found


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(workflow: pathlib.Path) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action


def test_every_python_that_we_promise_is_tried() -> None:
    minors = [int(entry["python"].split(".")[1]) for entry in matrix()]
    project = (ROOT / "pyproject.toml").read_text()
    (promised,) = re.findall(r'requires-python = ">=3\.(\d+)"', project)
    assert minors == list(range(int(promised), max(minors) + 1))


def test_it_runs_weekly_too() -> None:
    """The packages of the day change without us."""
    (cron,) = yaml.safe_load(TESTS.read_text())[True]["schedule"]  # yaml reads `on` as true
    assert re.fullmatch(r"\d+ \d+ \* \* \d", cron["cron"])


def test_it_runs_what_anyone_can_run() -> None:
    parts = set(re.findall(r"^part_(\w+)\(\)", (ROOT / ".ci/run").read_text(), re.MULTILINE))
    asked = [set(entry["parts"].split()) for entry in matrix()]
    assert asked[0] == parts
    assert all({"tests", "first"} <= each <= parts for each in asked)
    assert steps(TESTS)[-1]["run"] == ".ci/run ${{ matrix.parts }}"


@pytest.mark.parametrize("name", ["first", "test"])
def test_the_readmes_commands_are_found_where_ci_looks(name: str) -> None:
    """Two commands, each a single line: `.ci/run` runs them as they are written."""
    function = re.search(r"^command_of\(\) \{.*?^\}", (ROOT / ".ci/run").read_text(), re.M | re.S)
    assert function is not None
    found = subprocess.run(
        ["bash", "-euc", f"{function[0]}\ncommand_of {name}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert len(found.splitlines()) == 1
    assert found.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert found in (ROOT / "README.md").read_text()
