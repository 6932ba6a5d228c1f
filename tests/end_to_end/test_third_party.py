"""A third party's plugin is as good as ours, and a broken one costs nobody else anything."""

from __future__ import annotations

import csv
import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.plugin_folder import make_distribution
from tests.tiny_suite import TINY

HEAD = "from bell_bench import AlgorithmSpec, hookimpl\n\n\n"
YIELD = '    yield AlgorithmSpec("{name}", load="json:JSONDecoder", summary="Theirs.")\n'

BROKEN = {
    "import-error": ("import no_such_module", "No module named 'no_such_module'"),
    "misspelt-hook": (
        f"{HEAD}@hookimpl\ndef bell_bench_algoritms():\n{YIELD.format(name='misspelt')}",
        "unknown hook 'bell_bench_algoritms'",
    ),
    "wrong-signature": (
        f"{HEAD}@hookimpl\ndef bell_bench_algorithms(wrong):\n{YIELD.format(name='wrong')}",
        "wrong signature",
    ),
    "raising": (f"{HEAD}@hookimpl\ndef bell_bench_algorithms():\n    1 / 0\n", "ZeroDivisionError"),
    "rubbish": (
        f"{HEAD}@hookimpl\ndef bell_bench_algorithms():\n    return [3]\n",
        "gave 3, not AlgorithmSpec",
    ),
    "bad-name": (
        f"{HEAD}@hookimpl\ndef bell_bench_algorithms():\n{YIELD.format(name='a b')}",
        "algorithm name 'a b'",
    ),
}
COLLISION = f"{HEAD}@hookimpl\ndef bell_bench_algorithms():\n{YIELD.format(name='sa')}"

ThirdParty = Any


@pytest.mark.slow
def test_a_third_party_algorithm_is_listed_and_described(third_party: ThirdParty) -> None:
    listed = third_party.run("list", "algorithms")
    assert "majority" in listed.stdout
    assert "bell-bench-majority" in listed.stdout
    described = third_party.run("describe", "majority", "--json")
    facts = json.loads(described.stdout)
    assert facts["distribution"] == "bell-bench-majority"
    assert facts["version"] == "1.0"
    assert facts["options"]["smooth"]["default"] == 0.0
    plugins = {
        info["name"]: info for info in json.loads(third_party.run("plugins", "--json").stdout)
    }
    assert plugins["bell-bench-majority"]["provides"] == {"algorithms": ["majority"]}
    assert plugins["bell-bench-majority"]["status"] == "ok"
    assert listed.stderr == described.stderr == ""
    without = third_party.run("describe", "majority", BELL_BENCH_PLUGINS="bell-bench")
    assert without.returncode == 2
    assert "unknown name 'majority'" in without.stderr


@pytest.fixture(scope="module")
def broken(
    tmp_path_factory: pytest.TempPathFactory,
    make_third_party: Callable[[pathlib.Path], ThirdParty],
) -> ThirdParty:
    """Distributions broken in every way, all at once, and one that collides with ours."""
    party = make_third_party(tmp_path_factory.mktemp("broken"))
    for number, (name, (code, _)) in enumerate(BROKEN.items()):
        party.make(name, {name.replace("-", "_"): code}, version=f"0.{number}")
    party.make("colliding", {"colliding": COLLISION}, version="7.7")
    party.install()
    return party


@pytest.mark.slow
def test_broken_plugins_are_named_with_version_and_reason(broken: ThirdParty) -> None:
    plugins = {info["name"]: info for info in json.loads(broken.run("plugins", "--json").stdout)}
    text = " ".join(broken.run("plugins").stdout.split())
    for number, (name, (_, reason)) in enumerate(BROKEN.items()):
        info = plugins[name]
        assert (info["status"], info["distribution"], info["version"]) == (
            "broken",
            name,
            f"0.{number}",
        )
        assert reason in info["reason"]
        assert f"broken {name}, of {name} 0.{number}" in text
    assert plugins["built-in"]["status"] == plugins["bell"]["status"] == "ok"
    assert "is also in colliding 7.7" in plugins["built-in"]["conflicts"][0]


@pytest.mark.parametrize(
    "command", ["list", "list algorithms --json", "describe S_few", "describe bell-bench:sa"]
)
@pytest.mark.slow
def test_every_other_command_works_beside_them(broken: ThirdParty, command: str) -> None:
    done = broken.run(*command.split())
    assert done.returncode == 0, done.stderr
    alone = broken.run(*command.split(), BELL_BENCH_PLUGINS="bell-bench")
    if command == "describe S_few":
        assert done.stdout == alone.stdout
    warnings = done.stderr.splitlines()
    assert len(warnings) == len(BROKEN), done.stderr
    for name in BROKEN:
        (line,) = [line for line in warnings if f"of {name} 0." in line]
        assert line.startswith("warning: ")
    assert alone.stderr == ""


@pytest.mark.slow
def test_help_and_version_say_nothing_of_them(broken: ThirdParty, tmp_path: pathlib.Path) -> None:
    """Even where help has to look for verbs, as nothing is remembered of them."""
    for option in ("--version", "--help", "--help"):
        done = broken.run(option, BELL_BENCH_CACHE=str(tmp_path))
        assert (done.returncode, done.stderr) == (0, "")
    assert "reproduce" in done.stdout, "a verb of a plugin that is sound"


@pytest.mark.slow
def test_the_doctor_points_at_them(broken: ThirdParty) -> None:
    done = broken.run("doctor", "--json")
    assert done.returncode == 0, done.stderr
    findings = {check["name"]: check for check in json.loads(done.stdout)}
    for name in BROKEN:
        assert findings[f"plugin {name}"]["status"] == "warn"
        assert name in findings[f"plugin {name}"]["advice"]


@pytest.mark.slow
def test_a_name_of_two_providers_is_refused_and_can_be_picked(broken: ThirdParty) -> None:
    done = broken.run("describe", "sa")
    assert done.returncode == 2
    for part in ("bell-bench:sa", "colliding:sa", "colliding 7.7"):
        assert part in done.stderr
    picked = broken.run("describe", "colliding:sa")
    assert "Theirs." in picked.stdout
    listed = broken.run("list", "algorithms").stdout
    assert "bell-bench:sa" in listed
    assert "colliding:sa" in listed


def evaluate(party: ThirdParty, algorithm: str) -> dict[str, Any]:
    """One algorithm on one sequence of a suite that takes a second; its CSV row."""
    make_distribution(party.site, "tiny", TINY)
    done = party.run(
        "evaluate", "--algo", algorithm, "--suite", "tiny", "--sequence", "S_few", "--csv", "r.csv"
    )
    assert done.returncode == 0, done.stderr
    return next(csv.DictReader((party.folder / "r.csv").open()))


@pytest.mark.slow
def test_a_third_party_algorithm_is_evaluated(third_party: ThirdParty) -> None:
    row = evaluate(third_party, "majority")
    assert (row["algorithm"], row["status"], float(row["F"])) == ("majority", "done", 0.0)
    assert float(row["A"]) == pytest.approx(40, abs=15), "chance on two 8-way and four binary ones"


@pytest.mark.slow
def test_ours_are_evaluated_beside_broken_ones(broken: ThirdParty) -> None:
    assert evaluate(broken, "bell-bench:sa")["status"] == "done"
