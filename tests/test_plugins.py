"""The plugin host: what loads, what is refused and why, and that faults stay local."""

from __future__ import annotations

import dataclasses
import inspect
import json
import pathlib
import re
import subprocess
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator

import pytest

import bell_bench
from bell_bench import hookspecs
from bell_bench.cli.plugin_verbs import plugin_lines
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.import_strings import load_object
from bell_bench.one_plugin import Plugin
from bell_bench.plugins import (
    HOOKS,
    OBSERVERS,
    PluginInfo,
    PluginWarning,
    Registry,
    registry,
)
from tests.leaderboard.making import read, record

GOOD = """
from bell_bench import AlgorithmSpec, hookimpl

@hookimpl
def bell_bench_algorithms():
    yield AlgorithmSpec("{algorithm}", load="json:JSONDecoder", summary="A test.")
"""

VERB = """
from bell_bench import VerbSpec, hookimpl

@hookimpl
def bell_bench_verbs():
    yield VerbSpec("mend", load="m:command", summary="Mends.")
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Make a distribution with one plugin module, as pip would leave it on the path."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("BELL_BENCH_PLUGINS", raising=False)
    modules: list[str] = []

    def install(distribution: str, source: str, *, version: str = "1.0", entry: str = "") -> None:
        module = f"plugin_{len(modules)}_of_{distribution.replace('-', '_')}"
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source))
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        with (info / "entry_points.txt").open("a") as file:
            start = "" if file.tell() else "[bell_bench]\n"
            file.write(f"{start}{entry or distribution} = {module}\n")
        registry.cache_clear()

    yield install
    registry.cache_clear()
    for module in modules:
        sys.modules.pop(module, None)


def load() -> tuple[Registry, list[str]]:
    """The registry as a new process would see it, and the warnings given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = registry()
    return loaded, [str(w.message) for w in caught if issubclass(w.category, PluginWarning)]


def info_of(loaded: Registry, distribution: str) -> PluginInfo:
    return next(info for info in loaded.plugins if info.distribution == distribution)


def test_help_shows_the_verb_of_a_plugin_that_was_mended_in_place(
    install: Install,
    tmp_path: pathlib.Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = tmp_path_factory.mktemp("cache")  # elsewhere: a change beside the plugin would show
    monkeypatch.setenv("BELL_BENCH_CACHE", str(cache))
    install("mended", "import no_such_module")
    assert "mend" not in plugin_lines(())
    (file,) = tmp_path.glob("plugin_*.py")
    file.write_text(VERB)
    registry.cache_clear()
    assert plugin_lines(())["mend"] == "Mends."
    assert (cache / "verbs.json").exists(), "all work, so it is remembered"


def test_a_plugin_is_found_with_its_provider(install: Install) -> None:
    install("good-dist", GOOD.format(algorithm="good"), version="2.1", entry="good-plugin")
    loaded, said = load()
    provided = loaded.algorithm("good")
    assert (provided.spec.name, provided.distribution, provided.version) == (
        "good",
        "good-dist",
        "2.1",
    )
    assert info_of(loaded, "good-dist").provides == {"algorithms": ["good"]}
    assert said == []
    assert registry() is loaded


BROKEN = {
    "import error": ("import no_such_module_at_all", "No module named 'no_such_module_at_all'"),
    "syntax error": ("def", "SyntaxError"),
    "exit at import": ("raise SystemExit(3)", "SystemExit: 3"),
    "misspelt hook": (
        "from bell_bench import hookimpl\n@hookimpl\ndef bell_bench_algoritms(): return []",
        "unknown hook 'bell_bench_algoritms'; did you mean bell_bench_algorithms",
    ),
    "unmarked hook": (
        "def bell_bench_algorithms(): return []",
        "bell_bench_algorithms is not marked with @hookimpl",
    ),
    "no hook": ("x = 1", "implements no hook"),
    "wrong signature": (
        "from bell_bench import hookimpl\n@hookimpl\ndef bell_bench_algorithms(config): return []",
        "bell_bench_algorithms has a wrong signature",
    ),
    "raises": (
        "from bell_bench import hookimpl\n@hookimpl\ndef bell_bench_algorithms(): 1 / 0",
        "bell_bench_algorithms raised ZeroDivisionError: division by zero",
    ),
    "raises half-way": (
        GOOD.format(algorithm="half") + "    raise RuntimeError('later')",
        "bell_bench_algorithms raised RuntimeError: later",
    ),
    "no iterable": (
        "from bell_bench import hookimpl\n@hookimpl\ndef bell_bench_algorithms(): return 42",
        "gave 42, not an iterable of specs",
    ),
    "rubbish": (
        "from bell_bench import hookimpl\n@hookimpl\ndef bell_bench_algorithms(): yield 'sa'",
        "gave 'sa', not AlgorithmSpec",
    ),
    "bad name": (GOOD.format(algorithm="a/b"), "algorithm name 'a/b' must be letters"),
    "bad import string": (
        GOOD.format(algorithm="good").replace("json:JSONDecoder", "json"),
        "must be an import string",
    ),
    "bad summary": (GOOD.format(algorithm="good").replace('"A test."', "3"), "not text"),
    "twice": (
        GOOD.format(algorithm="good")
        + '    yield AlgorithmSpec("good", load="json:JSONEncoder", summary="Again.")',
        "gives the name 'good' a second time",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_named_and_costs_nobody_else(install: Install, case: str) -> None:
    source, reason = BROKEN[case]
    install("bad-dist", source, version="0.3", entry="bad")
    install("good-dist", GOOD.format(algorithm="fine"))
    loaded, said = load()
    info = info_of(loaded, "bad-dist")
    assert (info.status, info.version, info.provides) == ("broken", "0.3", {})
    assert reason in info.reason
    assert len(said) == 1, "warned about once"
    assert "bad-dist 0.3" in said[0]
    assert reason in said[0]
    assert loaded.algorithm("fine").distribution == "good-dist"
    assert info_of(loaded, "good-dist").status == "ok"
    assert not any(p.distribution == "bad-dist" for p in loaded.algorithms)
    assert load() == (loaded, [])


def test_a_plugin_with_one_bad_hook_keeps_its_others(install: Install) -> None:
    install(
        "half-dist",
        GOOD.format(algorithm="kept")
        + "\n@hookimpl\ndef bell_bench_domains():\n    raise OSError('no disk')",
    )
    loaded, _ = load()
    info = info_of(loaded, "half-dist")
    assert (info.status, info.provides) == ("broken", {"algorithms": ["kept"]})
    assert loaded.algorithm("kept").spec.name == "kept"


def test_one_name_from_two_distributions(install: Install) -> None:
    install("one-dist", GOOD.format(algorithm="same"), version="1.1")
    install("two-dist", GOOD.format(algorithm="same"), version="2.2")
    loaded, said = load()
    with pytest.raises(UsageError) as error:
        loaded.algorithm("same")
    for part in ("one-dist 1.1", "two-dist 2.2", "one-dist:same", "two-dist:same"):
        assert part in str(error.value)
    assert loaded.algorithm("two-dist:same").version == "2.2"
    assert loaded.algorithm("Two_Dist:same").version == "2.2"
    assert "two-dist 2.2; ask for one-dist:same" in info_of(loaded, "one-dist").conflicts[0]
    assert said == [], "both work"


def test_one_name_twice_in_a_distribution_is_a_fault(install: Install) -> None:
    install("one-dist", GOOD.format(algorithm="same"), entry="a")
    install("one-dist", GOOD.format(algorithm="same"), entry="b")
    loaded, said = load()
    assert loaded.algorithm("same").plugin == "a"
    assert len(said) == 1
    assert "second time" in said[0]


def test_unknown_names_suggest_the_nearest(install: Install) -> None:
    install("good-dist", GOOD.format(algorithm="excellent"))
    loaded, _ = load()
    with pytest.raises(UsageError, match="did you mean excellent"):
        loaded.algorithm("exellent")
    with pytest.raises(UsageError, match="did you mean bell"):
        loaded.suite("bel")


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ("", []),
        ("other", ["other"]),
        ("Good_Dist", ["good-plugin"]),
        (" other , good-plugin", ["other", "good-plugin"]),
    ],
)
def test_the_environment_limits_what_loads(
    install: Install, monkeypatch: pytest.MonkeyPatch, limit: str, found: list[str]
) -> None:
    install("good-dist", GOOD.format(algorithm="good"), entry="good-plugin")
    install("other-dist", GOOD.format(algorithm="other"), entry="other")
    monkeypatch.setenv("BELL_BENCH_PLUGINS", limit)
    assert [info.name for info in load()[0].plugins] == found
    if not limit:
        with pytest.raises(UsageError, match="BELL_BENCH_PLUGINS"):
            registry().suite("bell")


def test_an_unknown_name_in_the_limit_is_refused(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("good-dist", GOOD.format(algorithm="good"), entry="good-plugin")
    monkeypatch.setenv("BELL_BENCH_PLUGINS", "god-plugin")
    with pytest.raises(UsageError, match="did you mean good-plugin"):
        registry()


OBSERVER = """
from bell_bench import hookimpl
seen = []

@hookimpl
def bell_bench_job_finished(record):
    seen.append(record)
    {action}
"""


def test_observers_are_called_and_their_faults_survived(install: Install) -> None:
    install("bad-dist", OBSERVER.format(action="raise OSError('no network')"))
    install("good-dist", OBSERVER.format(action="pass"))
    loaded, said = load()
    assert said == []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in range(3):
            loaded.notify("bell_bench_job_finished", job={}, record={"number": number})
            loaded.notify("bell_bench_run_started", run={})
    assert len(caught) == 1
    assert "bell_bench_job_finished raised OSError: no network" in str(caught[0].message)
    assert info_of(loaded, "bad-dist").status == "broken"
    assert info_of(loaded, "good-dist").provides == {"observers": ["bell_bench_job_finished"]}
    for module in (m for name, m in sys.modules.items() if name.startswith("plugin_")):
        assert [record["number"] for record in module.seen] == [0, 1, 2]


def test_a_suite_that_does_not_load_names_its_provider(install: Install) -> None:
    install(
        "suite-dist",
        """
        from bell_bench import SuiteSpec, hookimpl

        @hookimpl
        def bell_bench_suites():
            return [
                SuiteSpec("gone", load="no_such_module:SUITE", summary=""),
                SuiteSpec("rubbish", load="json:JSONDecoder", summary=""),
            ]
        """,
    )
    loaded, _ = load()
    with pytest.raises(BellBenchError, match=r"suite 'gone' of suite-dist 1\.0: cannot load"):
        loaded.suite("gone")
    with pytest.raises(BellBenchError, match="is no suite, it lacks name, version, sequences"):
        loaded.suite("rubbish")
    assert loaded.suite("bell").name == "bell"


LOCAL = '''
from bell_bench import Algorithm, Option
from neighbour import ANSWER


class Mine(Algorithm):
    """My idea.

    More about it.
    """

    options = {"k": Option(int, ANSWER, "How many.")}


class Bare(Algorithm):
    options = {"k": 3}


def function(): pass
'''


@pytest.fixture
def local_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "neighbour.py").write_text("ANSWER = 42")
    file = tmp_path / "my algo.py"
    file.write_text(LOCAL)
    return file


def test_a_local_file_is_as_good_as_a_plugin(
    local_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(local_file.parent)
    provided = registry().algorithm("./my algo.py:Mine")
    assert provided.spec.name == "Mine"
    assert provided.spec.summary == "My idea."
    assert provided.spec.options["k"].default == 42
    assert provided.distribution == str(local_file)
    assert provided.version.startswith("sha256:")
    assert load_object(provided.spec.load) is load_object(provided.spec.load)
    assert registry().algorithm(f"{local_file}:Mine") == provided
    code = (
        "import sys; from bell_bench.import_strings import load_object; "
        "print(load_object(sys.argv[1]))"
    )
    worker = [sys.executable, "-c", code, provided.spec.load]
    done = subprocess.run(worker, capture_output=True, text=True, cwd="/", check=True)
    assert ".Mine" in done.stdout


def test_a_changed_local_file_is_loaded_afresh(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "changing.py"
    file.write_text("class Mine:\n    'First.'")
    assert registry().algorithm(f"{file}:Mine").spec.summary == "First."
    file.write_text("class Mine:\n    'Second.'")
    assert registry().algorithm(f"{file}:Mine").spec.summary == "Second."


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Min", "did you mean Mine"),
        ("function", "is no class"),
        ("Bare", "option 'k' of Bare must be an Option"),
        ("", "name the class"),
    ],
)
def test_what_is_wrong_with_a_local_file(local_file: pathlib.Path, name: str, message: str) -> None:
    with pytest.raises(BellBenchError, match=message):
        registry().algorithm(f"{local_file}:{name}")


def test_missing_and_faulty_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        registry().algorithm(f"{tmp_path}/none.py:Mine")
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    for path in (f"{tmp_path}/loop.py", "~nobody.of.this.name/mine.py", "nu\0l.py"):
        with pytest.raises(UsageError, match="no such file"):
            registry().algorithm(f"{path}:Mine")
    (tmp_path / "faulty.py").write_text("1 / 0")
    with pytest.raises(BellBenchError, match="ZeroDivisionError"):
        registry().algorithm(f"{tmp_path}/faulty.py:Mine")


@pytest.mark.parametrize(
    ("source", "how"),
    [
        ("import os; os._exit(7)", "exit code 7"),
        ("import os; os.kill(os.getpid(), 11)", "SIGSEGV"),
    ],
)
def test_a_file_whose_import_ends_the_process_is_refused(tmp_path, source, how):
    """And not imported here: it would end this test."""
    (tmp_path / "leaving.py").write_text(source)
    with pytest.raises(BellBenchError, match=rf"loading file:.*leaving.py:Mine ends .* {how}"):
        registry().algorithm(f"{tmp_path}/leaving.py:Mine")


def test_a_search_path_with_a_path_in_it_is_no_hindrance(local_file: pathlib.Path) -> None:
    sys.path.append(local_file.parent)  # type: ignore[arg-type]  # as notebooks do; it has no effect
    assert registry().algorithm(f"{local_file}:Mine").spec.name == "Mine"


def test_load_object() -> None:
    assert load_object("json:JSONDecoder") is json.JSONDecoder
    with pytest.raises(BellBenchError, match="No module named 'no_such_module'"):
        load_object("no_such_module:Thing")
    with pytest.raises(BellBenchError, match="did you mean JSONDecoder"):
        load_object("json:JSONDecode")


def examples() -> dict[str, str]:
    """The code below ``Example::`` in each hook's docstring."""
    found = {}
    for hook in HOOKS:
        _, _, code = inspect.getdoc(getattr(hookspecs, hook)).partition("Example::\n")  # type: ignore[union-attr]
        found[hook] = textwrap.dedent(code)
    return found


def blocks_of(page: str) -> list[str]:
    text = (pathlib.Path(__file__).parents[1] / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.S)


def run_as_plugin(code: str) -> tuple[types.ModuleType, Plugin]:
    module = types.ModuleType("example")
    exec(code, module.__dict__)
    return module, Plugin(PluginInfo("example", "example", "0"), module)


def notify(plugin: Plugin, hook: str) -> None:
    """Call an observer as a run does."""
    done = read(record())
    every = {
        "run": {"jobs": [done.job]},
        "job": done.job,
        "problem": {"name": "one", "accuracy": 0.5},
        "record": done,
    }
    names = inspect.signature(getattr(hookspecs, hook)).parameters
    plugin.call(hook, **{name: every[name] for name in names})


@pytest.mark.parametrize("hook", HOOKS)
def test_the_example_of_each_hook_runs(hook: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, plugin = run_as_plugin(examples()[hook])
    assert plugin.implements(hook)
    if hook in OBSERVERS:
        notify(plugin, hook)
        assert capsys.readouterr().out
    else:
        (specs,) = plugin.call(hook)
        assert all(dataclasses.is_dataclass(spec) for spec in specs)


@pytest.mark.filterwarnings("error::DeprecationWarning")
@pytest.mark.parametrize("code", blocks_of("plugins.md"))
def test_the_examples_in_the_documentation_run(
    code: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # an example writes a file
    module = types.ModuleType("example")
    exec(code, module.__dict__)
    if "@hookimpl" in code:
        _, plugin = run_as_plugin(code)
        for hook in OBSERVERS:
            if plugin.implements(hook):
                notify(plugin, hook)


def test_the_public_names_are_there_and_light() -> None:
    for name in bell_bench.__all__:
        assert getattr(bell_bench, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        bell_bench.nonsense  # noqa: B018
    code = (
        "import sys, bell_bench; heavy = {'torch', 'numpy', 'pluggy', 'click'} & set(sys.modules);"
        "from bell_bench import AlgorithmSpec, hookimpl;"
        "print(heavy | {'torch', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_version_is_that_of_the_distribution() -> None:
    text = (pathlib.Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{bell_bench.__version__}"' in text
