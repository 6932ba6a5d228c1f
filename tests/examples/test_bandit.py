"""The example distribution, installed and evaluated as a user would."""

from __future__ import annotations

import csv
import json
import pathlib
import re
import shlex

import pytest

from tests.scratch_environment import ScratchEnvironment

pytestmark = pytest.mark.slow  # makes an environment and installs into it
BANDIT = pathlib.Path(__file__).parents[2] / "examples" / "bell-bench-bandit"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> ScratchEnvironment:
    environment = ScratchEnvironment.make(tmp_path_factory.mktemp("bandit"))
    environment.install(environment.copy(BANDIT))
    return environment


def test_it_is_listed_with_its_distribution(installed: ScratchEnvironment) -> None:
    (row,) = (
        row
        for row in json.loads(installed.bell_bench("list", "algorithms", "--json").stdout)[
            "algorithms"
        ]
        if row["name"] == "bandit"
    )
    assert (row["distribution"], row["version"]) == ("bell-bench-bandit", "0.1.0")


def test_it_is_evaluated_and_tells_its_pulls(installed: ScratchEnvironment) -> None:
    done = installed.evaluate("bandit")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((installed.folder / "rows.csv").open()))
    assert {(row["algorithm"], row["status"]) for row in rows} == {
        ("bandit", "done"),
        ("sa", "done"),
    }
    (row,) = (row for row in rows if row["algorithm"] == "bandit")
    assert float(row["F"]) == 0.0, "its modules are frozen"
    record = json.loads(installed.bell_bench("show", "S_few-bandit", "--json").stdout)
    pulls = [note["pulls"] for p in record["problems"] for note in p["notes"] if "pulls" in note]
    assert pulls[0] == [], "no earlier solution"
    assert all(0 < len(each) <= 8 for each in pulls[1:])
    assert {pull["end"] for each in pulls for pull in each} == {"first", "last"}


def _commands() -> dict[str, list[str]]:
    """The calls of bell-bench in its README, by their verb."""
    (block,) = re.findall(r"```sh\n(.*?)```", (BANDIT / "README.md").read_text(), re.S)
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    return {words[1]: words[1:] for words in lines if words[0] == "bell-bench"}


def test_the_readmes_check_finds_no_fault(installed: ScratchEnvironment) -> None:
    done = installed.bell_bench(*_commands()["check"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readmes_evaluation_is_planned_run_and_shown(installed: ScratchEnvironment) -> None:
    """All of it is planned; its first algorithm runs as it says, but on the tiny suite."""
    verb, *words = _commands()["evaluate"]
    planned = installed.bell_bench("plan", *words, "--json")
    assert planned.returncode == 0, planned.stderr
    rows = {row["algorithm"]: row["jobs"] for row in json.loads(planned.stdout)["algorithms"]}
    assert rows == {"bandit": 2, "mntdp-d": 2, "sa": 2}
    first = dict(reversed(list(zip(words[::2], words[1::2], strict=True))))
    cut = (word for pair in first.items() for word in pair)
    done = installed.bell_bench(verb, *cut, "--suite", "tiny")
    assert done.returncode == 0, done.stderr
    assert "bandit" in done.stdout
    shown = installed.bell_bench(*_commands()["show"])
    assert "pulls" in shown.stdout, shown.stderr


def test_its_own_tests_pass(installed: ScratchEnvironment) -> None:
    done = installed.run(
        installed.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "bell-bench-bandit/tests"
    )
    assert done.returncode == 0, done.stdout
