"""The whole domain, suite and observers of docs/hooks.md: installed, described and run."""

from __future__ import annotations

import inspect
import json
import pathlib
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import bell_bench
from bell_bench import hookspecs
from bell_bench.cli.verbs import run
from bell_bench.data import DomainSizes, load_domain
from bell_bench.plugins import HOOKS as HOOK_NAMES
from bell_bench.plugins import registry
from bell_bench.records import Record
from tests.plugin_folder import make_distribution

HOOKS = pathlib.Path(__file__).parents[2] / "examples" / "hooks"
WATCHER = """
from bell_bench import hookimpl
TOLD = {}

@hookimpl
def bell_bench_run_started(run):
    TOLD["run"] = run

@hookimpl
def bell_bench_problem_solved(job, problem):
    TOLD["problem"] = problem

@hookimpl
def bell_bench_job_finished(job, record):
    TOLD["record"], TOLD["job"] = record, job
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """A folder on the path with the plugin's modules, and another that keeps what it is told."""
    folder = tmp_path_factory.mktemp("hooks")
    for module in HOOKS.glob("*.py"):
        shutil.copy(module, folder)
    make_distribution(folder, "my_plugin", (HOOKS / "my_plugin.py").read_text())
    make_distribution(folder, "watcher", WATCHER)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder))
        patch.chdir(folder)
        registry.cache_clear()
        yield folder
    registry.cache_clear()


def test_the_domain_is_described_and_loads(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["describe", "bars", "--data", "images"]) == 0
    told = capsys.readouterr().out
    for part in ("https://example.org/bars", "my_plugin 0.1", "CC0", "8 bars in noise"):
        assert part in told
    domain = load_domain("bars", "images", DomainSizes(80, 16, 16))
    assert domain.train_images.shape == (80, 28, 28)


def test_the_suite_is_counted_from_its_problems(here: pathlib.Path) -> None:
    forecast = bell_bench.plan("mntdp-d", suite="blobs", sequences="other", out="nothing-yet")
    assert {row["from"] for row in forecast.rows} == {"counted"}
    assert forecast.total["updates"] > 0
    assert forecast.total["seconds"] > 0


def test_a_sequence_of_bell_draws_the_domains_of_the_source(here: pathlib.Path) -> None:
    suite = registry().suite("bell")
    assert list(suite.sources) == ["glyphs", "images", "stripes"]
    assert "stripes" not in registry().suite("ctrl").sources
    for name in suite.sequences:
        sequence = suite.sequence(name, seed=1, scale="quick", protocol="paper", data="stripes")
        assert {domain.rstrip("123456789") for domain in sequence.domains} == {"stripes_"}
        assert sequence.missing() == {}
    problem = suite.sequence("S_few", seed=1, scale="quick", protocol="paper", data="stripes")
    assert problem.problem(2).train.images.max() == 255
    assert run(["describe", "stripes_3"]) == 0


@pytest.fixture(scope="module")
def results(here: pathlib.Path) -> Any:
    """Both of the suite's algorithms, by the plugin's executor."""
    return bell_bench.evaluate(
        ["sa", "constant:1"], suite="blobs", sequences="other", executor="one-by-one", quiet=True
    )


@pytest.mark.slow
def test_the_suite_runs_and_the_observers_hear_of_it(here: pathlib.Path, results: Any) -> None:
    assert not results.failed, results
    assert results.rows[0]["A"] > 80, "the blobs are far apart"
    lines = [json.loads(line) for line in (here / "watched.jsonl").read_text().splitlines()]
    assert lines[0] == {"started": ["sa", "constant:1"]}
    assert [line.get("problem") for line in lines[1:4]] == ["blobs 1", "blobs 2", "blobs 3"]
    assert lines[4] == {"algorithm": "sa", "status": "done", "problems": 3}
    assert lines[8] == {"algorithm": "constant:1", "status": "done", "problems": 3}
    import watcher

    assert watcher.TOLD["run"].keys() == {"jobs"}
    assert isinstance(watcher.TOLD["record"], Record)
    assert watcher.TOLD["job"] == watcher.TOLD["record"].job == watcher.TOLD["run"]["jobs"][1]
    assert set(watcher.TOLD["problem"]) == _keys("bell_bench_problem_solved", "problem")


@pytest.mark.slow
def test_the_family_is_listed_noted_told_and_drawn(
    here: pathlib.Path, results: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["list", "constant"]) == 0
    assert "constant:1" in capsys.readouterr().out
    (job,) = (record.job for record in results.records if record.job.algorithm == "constant:1")
    assert job.provider == "my_plugin 0.1"
    assert run(["show", job.name, "--picture", "curve.png"]) == 0
    assert " for the most common class" in capsys.readouterr().out
    assert (here / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert run(["show", job.name, "--full"]) == 0
    assert " for class 1" in capsys.readouterr().out


@pytest.mark.slow
def test_the_verb_counts_and_the_table_has_the_logo(
    here: pathlib.Path, results: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["count"]) == 0
    assert capsys.readouterr().out == "2 jobs\n"
    assert bell_bench.count_jobs("runs") == 2
    assert run(["--help"]) == 0
    assert "Count the jobs of a folder." in capsys.readouterr().out
    assert repr(results).startswith("*** my lab ***\n")
    assert run(["leaderboard", "runs"]) == 0


@pytest.mark.slow
def test_a_sequence_of_bell_runs_on_the_source(here: pathlib.Path, tmp_path: pathlib.Path) -> None:
    found = bell_bench.evaluate(
        ["sa"], sequences="S_few", data="stripes", out=tmp_path / "runs", quiet=True
    )
    assert not found.failed, found
    (record,) = found.records
    assert record.final[0] > 0.9, "the first problem is to tell eight heights apart"
    job = record.job
    assert job.images == "stripes"
    assert all(name.startswith("stripes_") for name in job.imported)
    assert {len(hash) for hash in job.imported.values()} == {16}
    assert record.problems[0].name.startswith("stripes_")


def test_every_example_of_the_hooks_is_in_the_plugin() -> None:
    plugin = (HOOKS / "my_plugin.py").read_text()
    for hook in set(HOOK_NAMES) - {"bell_bench_algorithms"}:  # examples/bell-bench-bandit has it
        assert f"def {hook}(" in plugin, hook


def _keys(hook: str, argument: str) -> set[str]:
    """The keys that a hook's docstring lists in its sentence ``argument`` has …."""
    text = " ".join((inspect.getdoc(getattr(hookspecs, hook)) or "").split())
    sentence = re.search(rf"``{argument}`` has ([^.]*)\.", text)
    assert sentence, f"{hook} does not say what {argument} has"
    return set(re.findall(r"``(\w+)``", sentence[1]))
