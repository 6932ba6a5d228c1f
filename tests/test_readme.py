"""What the README shows is true."""

from __future__ import annotations

import pathlib
import re
import shlex

import click
import pytest

from bell_bench.cli.verbs import cli

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


def test_the_example_algorithm_is_whole():
    code = re.search(r"```python\n(.*?)```", README, re.S)
    assert code
    scope: dict[str, object] = {}
    exec(code[1], scope)
    assert "MyAlgorithm" in scope
