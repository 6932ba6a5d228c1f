"""What the README shows is true."""

from __future__ import annotations

import pathlib
import re
import shlex
from collections.abc import Iterator

import click
import pytest

from bell_bench.cli.verbs import cli, run
from bell_bench.descriptions.jobs import find_jobs
from bell_bench.errors import BellBenchError
from bell_bench.harness.plan import Plan
from bell_bench.plugins import registry
from bell_bench.testing import check_algorithm
from tests.plugin_folder import make_distribution
from tests.tiny_suite import TINY

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_every_link_to_a_file_leads_somewhere():
    links = re.findall(r"\]\(((?!https?://)[^)#]+)\)", README)
    assert len(links) > 8
    for link in links:
        assert (ROOT / link).exists(), link


def commands() -> list[str]:
    tour = README[README.index("## 60 seconds") :]
    block = re.search(r"```sh\n(.*?)```", tour, re.S)
    assert block
    return [line for line in block[1].splitlines() if line.strip()]


@pytest.mark.parametrize("line", commands())
def test_every_command_of_the_tour_parses(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "mine.zip").touch()
    _, verb, *arguments = shlex.split(line, comments=True)
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    command.make_context(verb, arguments, resilient_parsing=False)


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A folder with the README's algorithm, where the tiny suite is installed."""
    make_distribution(tmp_path, "tiny", TINY)
    code = re.search(r"```python\n(.*?)```", README, re.S)
    assert code
    (tmp_path / "my_algo.py").write_text(code[1])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    registry.cache_clear()
    yield tmp_path
    registry.cache_clear()


def test_the_tour_shows_one_of_the_jobs_that_it_has_run(here, monkeypatch):
    def note(plan: Plan, *anything: object, **more: object) -> None:
        for job in plan.jobs:
            (here / "runs" / job.name).mkdir(parents=True, exist_ok=True)
            (here / "runs" / job.name / "job.json").touch()
        raise BellBenchError("far enough")

    monkeypatch.setattr("bell_bench.harness.plan.check_plan", note)
    tour = [shlex.split(line, comments=True)[1:] for line in commands()]
    for arguments in tour:
        if arguments[0] == "evaluate":
            run(arguments)
    (shown,) = (arguments[1] for arguments in tour if arguments[0] == "show")
    assert len(list((here / "runs").iterdir())) > 20, "realisations, algorithms, suites"
    assert len(find_jobs(pathlib.Path(shown), here / "runs")) == 1


@pytest.mark.slow
def test_the_example_algorithm_runs_by_the_command_of_the_tour(here, capsys):
    (line,) = (line for line in commands() if "./my_algo.py" in line)
    _, *arguments = shlex.split(line, comments=True)
    assert run([*arguments, "--suite", "tiny", "--quiet"]) == 0, capsys.readouterr().err
    assert "MyAlgorithm" in capsys.readouterr().out
    assert run(["show", "MyAlgorithm"]) == 0
    assert "status: done" in capsys.readouterr().out


@pytest.mark.slow
def test_the_example_algorithm_keeps_every_contract(here):
    check_algorithm("./my_algo.py:MyAlgorithm")
