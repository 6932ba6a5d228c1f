"""What the command line does, from Python."""

from __future__ import annotations

import functools
import inspect
import math
import pathlib
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import click
import pandas as pd
import pytest

import bell_bench
from bell_bench import Results, api, testing
from bell_bench.cli.verbs import cli, run
from bell_bench.data.catalogue import Collection
from bell_bench.data.declared import official_domains
from bell_bench.data.download import Progress
from bell_bench.descriptions import details
from bell_bench.errors import UsageError
from bell_bench.modular import evaluations
from bell_bench.plugins import registry
from bell_bench.records.reading import RECOMPUTED
from bell_bench_authors import functions as of_authors
from bell_bench_leaderboard import results as results_module
from bell_bench_paper import functions as of_the_paper
from bell_bench_paper.reproduction import verdicts
from bell_bench_submissions import functions as of_submissions
from tests.plugin_folder import make_distribution
from tests.tiny_suite import TINY

VERBS = cli.list_commands(click.Context(cli))
OF_VERBS = {
    "evaluate": ["evaluate"],
    "plan": ["plan"],
    "list": ["listing"],
    "describe": ["describe"],
    "show": ["show"],
    "leaderboard": ["leaderboard"],
    "reproduce": ["reproduce"],
    "submit": ["submit"],
    "validate": ["validate"],
    "new-algorithm": ["new_algorithm"],
    "check": ["check"],
    "ablate": ["ablate_density", "ablate_nt_search"],
    "data": ["data_status", "download_data", "verify_data", "import_data"],
    "cache": ["evaluation_store"],
    "plugins": ["installed_plugins"],
    "doctor": ["doctor"],
    "completion": [],
}
"""The functions that do what each verb does; a shell's completion is for shells alone."""


def home(function: str) -> types.ModuleType:
    """Where a function is defined: those of plugins' verbs are the plugins'."""
    return next(
        each for each in (api, of_authors, of_the_paper, of_submissions) if hasattr(each, function)
    )


def test_every_verb_can_be_had_from_python() -> None:
    assert set(VERBS) == set(OF_VERBS), "a verb without a function, or the reverse"
    for names in OF_VERBS.values():
        for name in names:
            assert getattr(bell_bench, name) is getattr(home(name), name)
            assert getattr(bell_bench, name).__doc__


HOMES = {
    "api": api,
    "results": results_module,
    "of_authors": of_authors,
    "of_the_paper": of_the_paper,
    "of_submissions": of_submissions,
    "details": details,
    "evaluations": evaluations,
    "verdicts": verdicts,
    "testing": testing,
}
PRESENTED = {"as_json", "yes"}
"""Options that say how to print, or whether to ask first; Python has the values."""
ELSEWHERE = {
    "evaluate.workers": "api.evaluate:jobs",
    "evaluate.chosen": "api.evaluate:realisations",
    "evaluate.csv_file": "results.Results:to_csv",
    "plan.chosen": "api.plan:realisations",
    "list.avalanche": "api.listing:kind",
    "describe.picture": "details.Description:draw",
    "leaderboard.csv_file": "results.Results:to_csv",
    "leaderboard.form": "results.Results.table:form",
    "leaderboard.markdown": "results.Results.table:markup",
    "leaderboard.latex": "results.Results.table:markup",
    "leaderboard.baseline": "results.Results.table:baseline",
    "leaderboard.html": "results.Results.page:file",
    "leaderboard.picture": "results.Results.draw:file",
    "leaderboard.figure": "results.Results.draw_resources:file",
    "leaderboard.costs": "results.Results:costs",
    "leaderboard.properties": "results.Results:properties",
    "leaderboard.rules": "results.Results.properties:rules",
    "leaderboard.tuned": "results.Results.properties:tuned",
    "reproduce.workers": "of_the_paper.reproduce:jobs",
    "reproduce.no_run": "of_the_paper.reproduce:run",
    "reproduce.file": "of_the_paper.reproduce:claims",
    "reproduce.html": "verdicts.Reproduction:page",
    "reproduce.publish": "verdicts.Reproduction:publish",
    "validate.count": "of_submissions.validate:rerun",
    "check.names": "of_authors.check:contracts",
    "check.explain": "testing.explanation:name",
    "ablate density.csv_file": "of_the_paper.Ablation:to_csv",
    "ablate density.plot_file": "of_the_paper.ablate_density:plot",
    "ablate density.out": "of_the_paper.ablate_density:plot",
    "ablate nt-search.csv_file": "of_the_paper.Ablation:to_csv",
    "ablate nt-search.plot_file": "of_the_paper.ablate_nt_search:plot",
    "cache clear.older_than": "evaluations.EvaluationStore.clear:older_than",
}
"""What an option of a verb is in Python, where it is not a parameter of that name: a parameter, or
a method of what the function gives. ``ablate density --out`` is only where its files go."""
OF_PARTS = {
    "ablate density": "ablate_density",
    "ablate nt-search": "ablate_nt_search",
    "data list": "data_status",
    "data download": "download_data",
    "data verify": "verify_data",
    "data import": "import_data",
    "cache info": "evaluation_store",
    "cache verify": "evaluation_store",
    "cache clear": "evaluation_store",
}


def _commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by its words, those of groups too."""
    for verb in VERBS:
        command = cli.get_command(click.Context(cli), verb)
        assert command is not None
        parts = command.commands if isinstance(command, click.Group) else {"": command}
        yield from ((f"{verb} {name}".strip(), part) for name, part in parts.items())


def _options() -> Iterator[tuple[str, str]]:
    for words, command in _commands():
        yield from ((words, str(param.name)) for param in command.params)


def test_the_tables_name_options_that_exist() -> None:
    known = {f"{words}.{option}" for words, option in _options()}
    assert set(ELSEWHERE) <= known
    assert {option for _, option in _options()} >= PRESENTED
    assert set(OF_PARTS) == {words for words, _ in _commands() if " " in words}


@pytest.mark.parametrize(("words", "option"), [*_options()])
def test_every_option_of_every_verb_can_be_had_from_python(words: str, option: str) -> None:
    if option in PRESENTED or words == "completion":
        return
    where, _, name = ELSEWHERE.get(f"{words}.{option}", f":{option}").partition(":")
    if not where:
        function = OF_PARTS.get(words) or OF_VERBS[words][0]
        where = f"{home(function).__name__.rpartition('.')[2]}.{function}"
        HOMES["functions"] = home(function)
    module, *parts = where.split(".")
    found: Any = HOMES[module]
    for part in parts:
        found = getattr(found, part)
    parameters = () if isinstance(found, type) else inspect.signature(found).parameters
    assert name in parameters or hasattr(found, name), f"{words} {option}: no {name} in {where}"


def test_importing_it_all_stays_light() -> None:
    code = (
        "import sys, bell_bench; bell_bench.evaluate; bell_bench.Results;"
        "print({'torch', 'numpy', 'pandas', 'click'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_nothing_needs_the_command_line_but_itself() -> None:
    root = pathlib.Path(bell_bench.__file__).parent
    own = [root / "cli", root / "__main__.py"]
    for file in root.rglob("*.py"):
        if not any(file == part or part in file.parents for part in own):
            assert "bell_bench.cli" not in file.read_text(encoding="utf-8"), file


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """A folder in which the tiny suite is a plugin, here and in the jobs' processes."""
    folder = tmp_path_factory.mktemp("api")
    make_distribution(folder, "tiny", TINY)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder))
        patch.chdir(folder)
        registry.cache_clear()
        yield folder
    registry.cache_clear()


@pytest.fixture(scope="module")
def results(house: pathlib.Path) -> Results:
    return bell_bench.evaluate(
        ["constant", "fail"], suite="tiny", sequences="S_pl", options={"fail.until": ""}, quiet=True
    )


@pytest.mark.slow
def test_results_are_tables(results: Results) -> None:
    jobs = results.to_pandas()
    assert isinstance(jobs, pd.DataFrame)
    assert dict(zip(jobs["algorithm"], jobs["status"], strict=True)) == {
        "constant": "done",
        "fail": "failed",
        "sa": "done",
    }
    board = results.leaderboard().set_index("algorithm")
    assert board.loc["constant", "A"] == pytest.approx(50, abs=15)
    assert (board.loc["constant", "n"], board.loc["constant", "status"]) == (1, "done")
    assert pd.isna(board.loc["fail", "A"])
    assert board.loc["fail", "status"] == "failed"


@pytest.mark.slow
def test_results_are_readable(results: Results) -> None:
    text = repr(results)
    assert "suite tiny" in text
    assert "failed: ValueError: no such luck" in text
    assert str(pathlib.Path("runs") / "tiny-S_pl-fail") in text
    page = results._repr_html_()
    assert page.count("<tr") == 4
    assert "no such luck" in page


@pytest.mark.slow
def test_results_are_recomputed_from_predictions(results: Results, tmp_path: pathlib.Path) -> None:
    checks = {record.job.algorithm: record.check for record in results.records}
    assert checks == {"constant": RECOMPUTED, "sa": RECOMPUTED, "fail": ""}
    results.page(tmp_path / "evaluated.html")
    bell_bench.leaderboard("runs").page(tmp_path / "read.html")
    assert _matrices(tmp_path / "evaluated.html") == _matrices(tmp_path / "read.html")


def _matrices(page: pathlib.Path) -> list[str]:
    """The accuracy matrices that a page holds."""
    found = sorted(re.findall(r'"matrix":(\[\[.*?\]\])', page.read_text(encoding="utf-8")))
    assert found
    return found


@pytest.mark.slow
def test_failures_are_values_not_exceptions(results: Results) -> None:
    (record,) = results.failed
    assert record.reason == "ValueError: no such luck"


@pytest.mark.slow
def test_the_same_call_goes_on_and_the_leaderboard_reads_it_again(
    house: pathlib.Path, results: Results
) -> None:
    again = bell_bench.evaluate("constant", suite="tiny", sequences=["S_pl"], quiet=True)
    assert {record.job.algorithm for record in again.records} == {"constant", "sa"}
    read = bell_bench.leaderboard("runs")
    assert len(read) == len(results)
    pd.testing.assert_frame_equal(
        read.leaderboard().sort_values("algorithm", ignore_index=True),
        results.leaderboard().sort_values("algorithm", ignore_index=True),
    )
    read.to_csv("rows.csv")
    assert len(pd.read_csv("rows.csv")) == 3
    assert repr(bell_bench.leaderboard("nowhere")) == "no results in nowhere"


@pytest.mark.slow
def test_results_in_other_forms(results: Results, tmp_path: pathlib.Path) -> None:
    assert "| constant |" in results.table("wide", markup="markdown")
    assert "tabular" in results.table("wide", markup="latex")
    assert "A − sa" in results.table(baseline="sa")
    with pytest.raises(UsageError, match="did you mean wide"):
        results.table("wid")
    results.page(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()
    assert "budget" in results.costs()
    assert "observed properties" in results.properties(tuned=["latent.threshold=2"])
    assert results.draw_resources(tmp_path / "resources.png") == "S_pl"
    assert (tmp_path / "resources.png").stat().st_size > 1000
    results.draw(tmp_path / "board.png")
    assert (tmp_path / "board.png").stat().st_size > 1000


@pytest.mark.slow
def test_a_submission_is_packed_and_checked(results: Results, tmp_path: pathlib.Path) -> None:
    file = bell_bench.submit("runs", "runs", out=tmp_path / "mine.zip", name="nobody")
    assert sorted(file.statuses.values()) == ["done", "done", "failed"]
    assert sorted(file.repeated) == sorted(file.statuses)
    report = bell_bench.validate(file)
    assert (report.faults, report.unchecked) == ([], [])
    again = bell_bench.validate(file, rerun=1, seed=1)
    assert (again.faults, again.unchecked) == ([], [])
    told, chosen = again.remarks[len(report.remarks) :]
    assert "rerun: " in told
    assert chosen == "jobs to run again were chosen by seed 1"


@pytest.mark.slow
def test_a_job_by_part_of_its_name(house: pathlib.Path, results: Results) -> None:
    shown = bell_bench.show("S_pl-sa", picture="paths.png")
    assert [record.job.algorithm for record in shown.records] == ["sa"]
    assert pathlib.Path("paths.png").stat().st_size > 1000
    for asked in ({"picture": "paths.png"}, {"problem": 1}, {"full": True}):
        with pytest.raises(UsageError, match=f"{next(iter(asked))}= is for one job.* means 3"):
            bell_bench.show("S_pl", **asked)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "options"),
    [({}, []), ({"problem": 2}, ["--problem", "2"]), ({"full": True}, ["--full"])],
)
def test_a_job_is_told_as_the_command_line_tells_it(
    house: pathlib.Path,
    results: Results,
    asked: dict[str, Any],
    options: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = bell_bench.show("S_pl-sa", **asked)
    assert run(["show", "S_pl-sa", *options]) == 0
    told = capsys.readouterr().out.rstrip("\n")
    assert repr(shown) == told.replace("--problem N or --full", "problem=N or full=True")
    assert "status: done" in shown._repr_html_()
    assert [row["algorithm"] for row in shown.rows] == ["sa"]


@pytest.mark.slow
def test_what_is_returned_prints_as_its_verb_does(
    house: pathlib.Path, results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    store = bell_bench.evaluation_store("runs")
    assert run(["cache", "info"]) == 0
    assert capsys.readouterr().out == f"{store}\n"
    assert store.info()["entries"] > 0
    assert store.unused(older_than="1d") == []
    forecast = repr(bell_bench.plan("sa", suite="tiny", sequences="S_pl"))
    assert "1 of these jobs has run" in " ".join(forecast.split())
    assert "core time" in forecast
    submitted = bell_bench.submit("runs", out="printed.zip", name="nobody")
    assert run(["submit", "runs", "--out", "printed.zip", "--name", "nobody"]) == 0
    told = f"{submitted}\ncheck it as we do: bell-bench validate printed.zip\n"
    assert capsys.readouterr().out == told
    report = bell_bench.validate("printed.zip")
    assert run(["validate", "printed.zip"]) == 0
    assert capsys.readouterr().out == f"{report}\n"
    assert "submitted by nobody" in repr(report)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"picle.k": 40, "houdini.paths": None}, ("picle.k=40", "houdini.paths=none")),
        (["picle.k=40"], ("picle.k=40",)),
        ("picle.k=40", ("picle.k=40",)),
        ({"x.on": True}, ("x.on=true",)),
    ],
)
def test_options_as_python_or_the_command_line_has_them(options: Any, expected: Any) -> None:
    assert api._settings(options) == expected


def test_realisations_by_number_or_by_name() -> None:
    assert api._counted(3) == (0, 1, 2)
    assert api._counted([5]) == (5,)


EVALUATE = functools.partial(bell_bench.evaluate, "sa", sequences="S_pl", quiet=True)
PLAN = functools.partial(bell_bench.plan, "sa", sequences="S_pl")


@pytest.mark.parametrize(
    ("function", "asked", "told"),
    [
        (EVALUATE, {"jobs": -1}, "--jobs -1 was asked for: give a whole number of at least"),
        (EVALUATE, {"jobs": 0, "executor": "ray"}, "--jobs 0"),
        (EVALUATE, {"parallel_paths": 0}, "--parallel-paths 0 was asked for"),
        (EVALUATE, {"timeout": -1.0}, "--timeout -1.0 was asked for: give a number above 0"),
        (EVALUATE, {"timeout": math.nan}, "--timeout nan"),
        (EVALUATE, {"memory": 0}, "--memory 0"),
        (EVALUATE, {"realisations": 0}, "--realisations 0 was asked for"),
        (EVALUATE, {"realisations": 10**30}, "a whole number from 1 to 10000"),
        (EVALUATE, {"realisations": []}, "no realisation was asked for; name at least one"),
        (EVALUATE, {"realisations": [0, -2]}, "--realisation -2 was asked for"),
        (EVALUATE, {"threads": 0}, "--threads 0 was asked for: give a whole number from 1 to 1024"),
        (EVALUATE, {"seeds": [-1]}, "--seed -1 was asked for"),
        (EVALUATE, {"seeds": [0.5]}, "--seed 0.5 was asked for: give a whole number"),
        (PLAN, {"realisations": 0}, "--realisations 0"),
        (PLAN, {"seeds": ()}, "no seed was asked for; name at least one"),
        (PLAN, {"cores": 0}, "--cores 0"),
        (PLAN, {"machines": 0}, "--machines 0"),
        (bell_bench.ablate_density, {"seeds": 0}, "--seeds 0"),
        (bell_bench.ablate_nt_search, {"realisations": 0}, "--realisations 0"),
        (bell_bench.ablate_nt_search, {"seeds": 0}, "--seeds 0"),
        (bell_bench.reproduce, {"realisations": [-1], "run": False}, "--realisation -1"),
        (bell_bench.show, {"problem": 0}, "--problem 0"),
        (bell_bench.validate, {"file": "x.zip", "rerun": -1}, "--rerun -1"),
        (bell_bench.validate, {"file": "x.zip", "seed": -1}, "--seed -1"),
    ],
)
def test_numbers_that_cannot_be_are_refused_before_anything_is_written(
    function: Callable[..., Any],
    asked: dict[str, Any],
    told: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=re.escape(told)):
        function(**asked)
    assert list(tmp_path.iterdir()) == []


def test_listing_and_describing() -> None:
    assert "picle" in [row["name"] for row in bell_bench.listing("algorithms")]
    assert "avalanche:Naive" in [row["name"] for row in bell_bench.listing("avalanche")]
    with pytest.raises(UsageError, match="did you mean suites"):
        bell_bench.listing("suite")
    description = bell_bench.describe("S_few", suite="bell", realisation=1)
    assert description.facts["realisation"] == 1
    assert "few-shot" in repr(description)
    with pytest.raises(UsageError, match="unknown name"):
        bell_bench.describe("S_none")


def test_a_name_of_several_things_is_told_as_the_command_line_tells_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    both = bell_bench.describe("paper", suite="bell")
    assert ["scale" in each for each in both.facts["meanings"]] == [True, False]
    assert run(["describe", "paper", "--suite", "bell"]) == 0
    assert capsys.readouterr().out == f"{both}\n"


def test_plugins_data_and_cache(tmp_path: pathlib.Path) -> None:
    assert "built-in" in [info.name for info in bell_bench.installed_plugins()]
    assert {row.status for row in bell_bench.data_status("glyphs")} == {"present"}
    assert bell_bench.evaluation_store(tmp_path).entries() == []
    with pytest.raises(UsageError, match="unknown domain"):
        bell_bench.verify_data("nowhere")
    with pytest.raises(UsageError, match="unknown official domain"):
        bell_bench.download_data("nowhere")


def test_every_official_dataset_can_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, ...]] = []

    def fetch(collection: Collection, tell: Progress, mirror: str | None) -> list[pathlib.Path]:
        tell(collection.name, 1, None)
        return [pathlib.Path(collection.name)]

    monkeypatch.setattr("bell_bench.data.download.fetch", fetch)
    fetched = bell_bench.download_data("cifar10", "dtd", tell=lambda *facts: told.append(facts))
    names = [official_domains()[name].collection.name for name in ("cifar10", "dtd")]
    assert fetched == [pathlib.Path(name) for name in names]
    assert told == [(name, 1, None) for name in names]


def test_an_ablation_writes_and_prints_what_its_verb_does(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bell_bench_paper.ablations import nt_search, plots

    paths = [("RS", 0, 0, 1, "1.2", 0.5, 0.5), ("RS", 0, 0, 2, "2.2", 0.75, 0.75)]
    rows = pd.DataFrame(paths, columns=list(nt_search.COLUMNS))
    monkeypatch.setattr(nt_search, "run", lambda **asked: rows)
    monkeypatch.setattr(plots, "draw_nt_search", lambda *figure: None)
    found = bell_bench.ablate_nt_search(realisations=1, seeds=1)
    assert found.stopping is not None
    assert found.stopping["paths"].tolist() == [2]
    found.to_csv(tmp_path / "ablate-nt-search.csv")
    asked = ["--realisations", "1", "--seeds", "1", "--out", str(tmp_path / "verb")]
    assert run(["ablate", "nt-search", *asked]) == 0
    assert capsys.readouterr().out.startswith(f"{found}\nwrote ")
    mine, its = (sorted(place.glob("*.csv")) for place in (tmp_path, tmp_path / "verb"))
    assert [file.name for file in mine] == ["ablate-nt-search-stopping.csv", "ablate-nt-search.csv"]
    assert [file.read_text() for file in mine] == [file.read_text() for file in its]


@pytest.mark.slow
def test_checking_gives_findings() -> None:
    names = [finding.contract for finding in bell_bench.check("sa") if finding.status == "kept"]
    assert "resumes" in names
    (only,) = bell_bench.check("sa", contracts="scores")
    assert (only.contract, only.status) == ("scores", "kept")
