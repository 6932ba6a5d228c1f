"""The command line: verbs, listings, errors and exit codes."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import click
import pytest

import bell_bench
from bell_bench import __version__
from bell_bench.cli.verbs import VERBS, _show_warnings_briefly, run
from bell_bench.errors import BellBenchError, UsageError


@pytest.fixture(autouse=True)
def _restore_warnings() -> Iterator[None]:
    usual = warnings.showwarning
    yield
    warnings.showwarning = usual


def answer(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert run(args) == 0
    return capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert run(args) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def answer_json(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    return json.loads(answer(capsys, *args, "--json"))


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "--help")
    assert all(verb in text for verb in VERBS)
    assert answer(capsys) == text
    assert __version__ in answer(capsys, "--version")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"bell-bench {verb}" in answer(capsys, verb, "--help")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["lst"], "did you mean list?"),
        (["describe", "S_fewe"], "did you mean S_few"),
        (["describe", "S_few", "--scale", "quik"], "did you mean quick"),
        (["describe", "S_few", "--suite", "bel"], "did you mean bell"),
        (["describe", "S_few", "--seed", "x"], "'x' is not a valid integer"),
        (["describe", "S_few", "--seed", "1", "--realisation", "1"], "not both"),
        (["describe", "bell-benhc:sa"], "did you mean bell-bench:sa"),
        (["describe", "bell-bench:nothing"], "unknown name"),
        (["describe", "sa", "--picture", "x.png"], "no picture of sa"),
        (["describe"], "Missing argument"),
        (["list", "algoritms"], "algorithms"),
        (["list", "--suite", "bel"], "did you mean bell"),
        (["--nonsense"], "--nonsense"),
        (["completion", "tcsh"], "bash"),
    ],
)
def test_wrong_usage(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in refusal(capsys, *args)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BellBenchError("no disk"), 1, "error: no disk\n"),
        (UsageError("no such thing"), 2, "error: no such thing\n"),
        (click.ClickException("hm"), 1, "error: hm\n"),
        (KeyboardInterrupt(), 130, "stopped\n"),
        (ZeroDivisionError("oh"), 1, "BELL_BENCH_DEBUG=1 shows the traceback"),
    ],
)
def test_errors_become_messages_and_codes(
    error: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setitem(sys.modules, "failing_verb", _module(click.command("fail")(fail)))
    monkeypatch.setitem(VERBS, "fail", ("failing_verb:command", ""))
    monkeypatch.delenv("BELL_BENCH_DEBUG", raising=False)
    assert run(["fail"]) == code
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err
    monkeypatch.setenv("BELL_BENCH_DEBUG", "1")
    assert run(["fail"]) == code
    assert ("Traceback" in capsys.readouterr().err) == isinstance(
        error, BellBenchError | ZeroDivisionError
    )


def _module(command: click.Command) -> types.ModuleType:
    module = types.ModuleType("failing_verb")
    module.command = command  # type: ignore[attr-defined]
    return module


def test_a_verb_chooses_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    verb = click.command("some")(lambda: 1)
    monkeypatch.setitem(sys.modules, "failing_verb", _module(verb))
    monkeypatch.setitem(VERBS, "some", ("failing_verb:command", ""))
    assert run(["some"]) == 1


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "list")
    for name in ("sa", "S_few", "bell", "glyphs", "quick", "authors-code"):
        assert f"\n  {name} " in text
    assert "distribution" in answer(capsys, "list", "algorithms")
    rows = answer_json(capsys, "list")
    assert list(rows) == ["algorithms", "families", "sequences", "suites", "data", "scales",
                          "protocols", "executors"]  # fmt: skip
    own = [row for row in rows["scales"] if row["suite"] == "bell"]
    assert answer_json(capsys, "list", "scales", "--suite", "bell") == {"scales": own}
    assert text.count("\n  s_in ") == 1, "what two suites share is told once"
    sequence = next(row for row in rows["sequences"] if row["name"] == "S_few")
    assert (sequence["suite"], sequence["length"]) == ("bell", 6)
    assert rows["scales"][0]["settings"]["width"] > 0


def test_describe_an_algorithm_from_a_file(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from bell_bench import Algorithm, Option\n"
        "class Mine(Algorithm):\n"
        "    'Mine, all mine.'\n"
        "    options = {'kernel': Option(str, 'rbf', 'Which.', choices=('rbf', 'linear')),\n"
        "               'bound': Option(int, None, 'Most.', optional=True)}\n"
    )
    text = answer(capsys, "describe", f"{file}:Mine")
    assert "Mine, all mine." in text
    assert "Mine.kernel  rbf | linear  rbf      Which." in text
    assert "Mine.bound   int or none   none     Most." in text
    facts = answer_json(capsys, "describe", f"{file}:Mine")
    assert facts["algorithm"] == "Mine"
    assert facts["options"]["kernel"]["choices"] == ["rbf", "linear"]


def test_describe_a_sequence(capsys: pytest.CaptureFixture[str]) -> None:
    facts = answer_json(capsys, "describe", "S_few", "--realisation", "1", "--scale", "paper")
    assert set(facts) == {
        *("suite", "sequence", "seed", "realisation", "scale", "protocol", "data"),
        *("tests", "summary", "problems"),
    }
    assert (facts["realisation"], facts["scale"], facts["data"]) == (1, "paper", "glyphs")
    assert [row["position"] for row in facts["problems"]] == list(range(6))
    by_seed = answer_json(
        capsys, "describe", "S_few", "--seed", str(facts["seed"]), "--scale", "paper"
    )
    assert by_seed == {**facts, "realisation": None}
    text = answer(capsys, "describe", "S_few", "--realisation", "1")
    assert facts["tests"] in text
    assert all(row["name"] in text for row in facts["problems"])
    coded = answer_json(capsys, "describe", "S_long", "--protocol", "authors-code")
    assert len(coded["problems"]) == 100


def test_describe_suites_presets_and_domains(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(answer_json(capsys, "describe", "bell")["scales"]) >= {"quick", "paper"}
    assert "S_out_star" in answer(capsys, "describe", "bell")
    scale, protocol = answer_json(capsys, "describe", "paper", "--suite", "bell")
    assert (scale["scale"], protocol["protocol"]) == ("paper", "paper")
    coded = answer(capsys, "describe", "authors-code")
    assert "0.9749541784205452  AdamW's" in coded, "in full, as the docs do"
    assert answer_json(capsys, "describe", "k49_1")["data"] == "glyphs"
    assert "data download k49_1" in answer(capsys, "describe", "k49_1", "--data", "images")


def test_plugins(capsys: pytest.CaptureFixture[str]) -> None:
    assert "built-in, of bell-bench" in answer(capsys, "plugins")
    plugins = {info["name"]: info for info in answer_json(capsys, "plugins")}
    assert plugins["bell"]["provides"] == {"suites": ["bell"]}
    assert plugins["built-in"]["status"] == "ok"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "_BELL_BENCH_COMPLETE" in answer(capsys, "completion", shell)


@pytest.mark.parametrize(
    ("typed", "offered", "not_offered"),
    [
        ("bell-bench de", "plain,describe", "plain,list"),
        ("bell-bench describe S_f", "plain,S_few", "plain,S_pl"),
        ("bell-bench list seq", "plain,sequences", "plain,suites"),
        ("bell-bench describe S_few --scale q", "plain,quick", "plain,paper"),
    ],
)
def test_names_are_completed(
    typed: str,
    offered: str,
    not_offered: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("_BELL_BENCH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    with pytest.raises(SystemExit):
        run([])
    lines = capsys.readouterr().out.splitlines()
    assert offered in lines
    assert not_offered not in lines


DRIVER = """
import sys
from bell_bench.cli.verbs import run
code = run(sys.argv[1:])
heavy = {"torch", "torchvision", "pandas", "matplotlib", "rich", "avalanche"} & set(sys.modules)
assert not heavy, heavy
sys.exit(code)
"""


@pytest.mark.parametrize(
    "args",
    ["--help", "list", "list --json", "describe sa", "describe S_few", "describe paper", "plugins"],
)
def test_listing_imports_nothing_heavy(args: str, tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-c", DRIVER, *args.split()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_help_imports_no_verb(tmp_path: pathlib.Path) -> None:
    code = DRIVER.replace('"torch",', '"numpy", "pluggy", "bell_bench.cli.list",')
    first = "from bell_bench.cli.verbs import run; run(['--help'])"  # learns the plugins' verbs
    for each in (first, code):
        done = subprocess.run(
            [sys.executable, "-c", each, "--help"], capture_output=True, text=True, cwd=tmp_path
        )
    assert done.returncode == 0, done.stderr


def test_the_module_runs_too(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "bell_bench", "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: bell-bench ")


def test_output_that_knows_no_greek(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bell_bench", "describe", "S_few"],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )
    assert done.returncode == 0, done.stderr
    assert b"?+" in done.stdout


@pytest.mark.slow
def test_a_picture_without_a_name_is_called_what_it_shows(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["describe", "k49_1", "--picture"]) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["k49_1.png"]


def test_plugin_warnings_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    from bell_bench.plugins import PluginWarning

    _show_warnings_briefly()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(PluginWarning("plugin x is broken"), stacklevel=1)
    assert capsys.readouterr().err == "warning: plugin x is broken (see `bell-bench plugins`)\n"


def test_our_own_warnings_are_one_line_and_others_keep_their_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with warnings.catch_warnings(record=True) as kept:
        warnings.simplefilter("always")
        _show_warnings_briefly()
        warnings.warn_explicit("ours", UserWarning, str(bell_bench.__file__), 1)
        warnings.warn_explicit("theirs", UserWarning, __file__, 1)
    assert [str(each.message) for each in kept] == ["theirs"]
    assert capsys.readouterr().err == "warning: ours\n"
