"""What the documentation shows is true: its code runs, its commands parse, its links lead on."""

from __future__ import annotations

import pathlib
import pkgutil
import re
import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest

import bell_bench
from bell_bench import api, testing
from bell_bench.cli.verbs import cli
from bell_bench.plugins import registry
from bell_bench.testing import ContractBroken
from tests.plugin_folder import make_distribution
from tests.plugins.authors.misbehaving import WrongShape
from tests.tiny_suite import TINY

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
NAMES = [page.name for page in PAGES]
FILES = ("runs", "runs-of-a", "runs-of-b")
"""What a reader of the commands has."""


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


def commands() -> list[tuple[str, str]]:
    """Every call of bell-bench in a shell block of any page, lines joined."""
    return [
        (page, line)
        for page in NAMES
        for block in blocks(page, "sh")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("bell-bench ")
    ]


@pytest.mark.parametrize(("page", "line"), commands())
def test_every_command_parses(
    page: str, line: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, verb, *arguments = shlex.split(line, comments=True)
    for name in filter(lambda name: name in FILES, arguments):
        (tmp_path / name).mkdir()
    (tmp_path / "leaderboard").symlink_to(ROOT / "leaderboard")
    monkeypatch.chdir(tmp_path)
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    command.make_context(verb, arguments)


def test_every_verb_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for verb in cli.list_commands(click.Context(cli)):
        assert f"bell-bench {verb}" in text, verb


@pytest.mark.parametrize("page", NAMES)
def test_every_link_leads_somewhere(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)", text):
        file = ROOT / "docs" / (target or page)
        assert file.is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
            assert anchor in {re.sub(r"[^\w-]+", "-", each.lower()).strip("-") for each in headings}


@pytest.mark.parametrize("page", NAMES)
def test_every_included_file_is_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for name in re.findall(r'^--8<-- "([^":]+)', text, re.M):
        assert (ROOT / name).is_file(), name


@pytest.fixture
def tiny(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs in this test are of the tiny suite: the same code, in a second."""
    make_distribution(tmp_path, "tiny", TINY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    registry.cache_clear()

    def evaluate(*arguments: Any, **settings: Any) -> bell_bench.Results:
        return api.evaluate(*arguments, **{"suite": "tiny", "quiet": True, **settings})

    monkeypatch.setattr(bell_bench, "evaluate", evaluate)
    yield
    registry.cache_clear()


@pytest.mark.filterwarnings("error:.* is written:DeprecationWarning")
@pytest.mark.slow
def test_the_quick_start_runs(tiny: None, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("quick-start.md", "python")
    exec(code, {})
    out = capsys.readouterr().out
    assert "mntdp-d" in out
    assert "S_few" in out


def test_the_test_file_of_the_contracts_runs() -> None:
    (code,) = blocks("contracts.md", "python")
    scope: dict[str, Any] = {}
    exec(code, scope)
    with pytest.raises(ContractBroken):
        scope["check_algorithm"](WrongShape, "scores")


def test_the_architecture_names_rooms_that_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = re.findall(r"^\| `([\w/.]+)`", text, re.M)
    assert len(rooms) >= 10
    for room in rooms:
        assert (ROOT / room).exists(), room


def entries(page: str) -> Iterator[str]:
    """What a page of the reference has an entry for: names, and modules that are there whole."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for home, options in re.findall(r"^::: ([\w.]+)\n((?: +.*\n)*)", text + "\n", re.M):
        _, _, members = options.partition("members:")
        yield from (f"{home}.{name}" for name in re.findall(r"\w+", members))
        if not members:
            yield home


def public() -> set[str]:
    """Every public name, in full."""
    homes = {"__version__": "bell_bench", **bell_bench._HOMES}
    homes |= {name: getattr(bell_bench, name).__module__ for name in bell_bench._OF_PLUGINS}
    ours = {f"{homes.get(name, 'bell_bench.api')}.{name}" for name in bell_bench.__all__}
    return ours | {f"bell_bench_authors.testing.conformance.{name}" for name in testing.__all__}


def test_the_public_names_are_documented() -> None:
    documented = {*entries("api.md"), *entries("hooks.md")}
    for name in public():
        assert name in documented or name.rpartition(".")[0] in documented, name


@pytest.mark.parametrize("page", ["api.md", "hooks.md"])
def test_every_entry_of_the_reference_is_of_something(page: str) -> None:
    for entry in entries(page):
        assert pkgutil.resolve_name(entry), entry
