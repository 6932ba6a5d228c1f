"""The verb ``new-algorithm``: what it writes installs, runs and beats chance."""

from __future__ import annotations

import csv
import hashlib
import importlib
import pathlib
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bell_bench.cli.verbs import run
from bell_bench.errors import UsageError
from bell_bench_authors import functions
from bell_bench_authors.templates import KINDS, write_distribution
from bell_bench_authors.testing.tiny_job import Subject, Trial
from bell_bench_authors.testing.tiny_problems import world_for
from tests.scratch_environment import ScratchEnvironment

FILES = {
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "tests/test_quick_idea.py",
    "quick_idea/__init__.py",
    "quick_idea/algorithm.py",
}


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "quick-idea"))
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "quick_idea"]:
        del sys.modules[name]


def load(module: str) -> Any:
    importlib.invalidate_caches()  # it was just written
    return importlib.import_module(module)


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_distribution_is_written(
    here: pathlib.Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["new-algorithm", "quick-idea", "--kind", kind, "--author", "A. Nobody"]) == 0
    files = {str(p.relative_to(here / "quick-idea")) for p in here.rglob("*") if p.is_file()}
    assert files == FILES
    texts = {file: (here / "quick-idea" / file).read_text() for file in files}
    for file, text in texts.items():
        for word in ("my-idea", "my_idea", "MyIdea", "@AUTHOR", "@LICENCE", "@YEAR"):
            assert word not in text, file
    assert len(texts["quick_idea/algorithm.py"].splitlines()) <= 35, "imports and docstrings, too"
    project = texts["pyproject.toml"].splitlines()
    assert project[project.index("[project.entry-points.bell_bench]") + 1] == (
        'quick-idea = "quick_idea"'
    )
    assert {'license = "MIT"', 'authors = [{ name = "A. Nobody" }]'} <= set(project)
    assert "A. Nobody" in texts["LICENSE"]
    (spec,) = load("quick_idea").bell_bench_algorithms()
    assert (spec.name, spec.load) == ("quick-idea", "quick_idea.algorithm:QuickIdea")
    assert "pip install -e quick-idea" in capsys.readouterr().out


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind == "from-scratch" else [pytest.mark.slow])
        for kind in KINDS
    ],
)
def test_its_algorithm_beats_chance(here: pathlib.Path, kind: str, tmp_path: pathlib.Path) -> None:
    """On problems of eight shapes in noise, with training that has time to learn."""
    write_distribution(pathlib.Path("quick-idea"), kind=kind)
    (spec,) = load("quick_idea").bell_bench_algorithms()
    module = load("quick_idea.algorithm")
    defaults = {name: option.default for name, option in spec.options.items()}
    world = world_for(())
    longer: dict[str, Any] = {"max_epochs": 100, "max_updates": 120, "patience": 120}
    world = replace(world, settings=replace(world.settings, **longer))
    trial = Trial(Subject("quick-idea", module.QuickIdea, defaults), world, tmp_path / "runs")
    for task in world.sequences["plain"]:
        trial.learn(task)
    last = world.sequences["plain"][-1]
    found = trial.predict(last.problem.index).argmax(dim=1).numpy()
    assert (found == last.test.labels).mean() > 0.65


@pytest.mark.parametrize(
    ("licence", "digest"),
    [
        ("MIT", "7c9b48b52decb983"),
        ("BSD-3-Clause", "77bebd765dc6e78c"),
        ("Apache-2.0", "0649bc87ac07c40d"),
    ],
)
def test_the_text_of_a_licence_is_the_true_one(
    here: pathlib.Path, licence: str, digest: str
) -> None:
    """But for the line that says whose it is, word for word."""
    folder = functions.new_algorithm("quick-idea", licence=licence, author="Ann O'Neil")
    lines = (folder / "LICENSE").read_text().splitlines()
    (whose,) = (line for line in lines if "Ann O'Neil" in line)
    assert whose.strip() in (
        f"Copyright {mark}{time.strftime('%Y')}{comma} Ann O'Neil"
        for mark in ("", "(c) ")
        for comma in ("", ",")
    )
    words = " ".join(word for line in lines if line != whose for word in line.split())
    assert hashlib.sha256(words.encode()).hexdigest()[:16] == digest
    assert f'license = "{licence}"' in (folder / "pyproject.toml").read_text()


def test_a_licence_may_be_chosen_later(here: pathlib.Path) -> None:
    folder = functions.new_algorithm("quick-idea", licence="none")
    assert not (folder / "LICENSE").exists()
    assert "license" not in (folder / "pyproject.toml").read_text()


@pytest.mark.parametrize("asked", [("--licence", "mit"), ("--license", "Mit")])
def test_a_licence_in_any_case_and_spelling(here: pathlib.Path, asked: tuple[str, str]) -> None:
    assert run(["new-algorithm", "quick-idea", *asked]) == 0
    assert 'license = "MIT"' in (here / "quick-idea" / "pyproject.toml").read_text()


@pytest.mark.parametrize("author", ['Z "Q" \\', "Ann AUTHOR my-idea", "Ægir 李"])
def test_an_author_keeps_every_letter(here: pathlib.Path, author: str) -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python has it since 3.11")
    folder = functions.new_algorithm("quick-idea", author=author)
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["authors"] == [{"name": author}]
    assert author in (folder / "LICENSE").read_text(encoding="utf-8")


def test_an_author_of_two_lines_is_refused(here: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="line breaks"):
        functions.new_algorithm("quick-idea", author="A\nB")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("-idea", "No such option"),
        ("idea-", "cannot name a distribution"),
        ("my idea", "cannot name a distribution"),
        ("picle", "bell-bench 0.1.0 has an algorithm picle"),
        ("Picle", "bell-bench 0.1.0 has an algorithm picle"),
        ("json", "would hide the Python module json"),
        ("class", "would hide the Python module class"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    here: pathlib.Path, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["new-algorithm", name]) == 2
    assert message in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_nothing_is_overwritten(here: pathlib.Path) -> None:
    (here / "quick-idea").mkdir()
    with pytest.raises(UsageError, match="already there"):
        write_distribution(pathlib.Path("quick-idea"))


@pytest.mark.slow
def test_each_kind_installs_runs_and_keeps_the_contracts(tmp_path: pathlib.Path) -> None:
    environment = ScratchEnvironment.make(tmp_path)
    names = [f"idea-{kind}" for kind in KINDS]
    for name, kind in zip(names, KINDS, strict=True):
        done = environment.bell_bench("new-algorithm", name, "--kind", kind)
        assert done.returncode == 0, done.stderr
    environment.install(*(tmp_path / name for name in names), alone=True)
    done = environment.evaluate(*names)
    assert done.returncode == 0, done.stderr
    rows = csv.DictReader((tmp_path / "rows.csv").open())
    assert {row["algorithm"]: row["status"] for row in rows} == dict.fromkeys(
        [*names, "sa"], "done"
    )
    tests = [str(tmp_path / name / "tests") for name in names]
    done = environment.run(environment.python, "-m", "pytest", "-q", *tests)
    assert done.returncode == 0, done.stdout
