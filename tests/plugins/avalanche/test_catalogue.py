"""Avalanche's strategies by name: instant, without Avalanche, and true to what is installed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from bell_bench.cli.verbs import cli
from bell_bench.errors import UsageError
from bell_bench.harness.plan import Request, make_plan
from bell_bench.options import complete, parse_options
from bell_bench.plugins import registry
from bell_bench_avalanche.catalogue import algorithm, strategies

SUPPORTED = [name for name, row in strategies().items() if not row.reason]


def test_a_family_member_is_an_algorithm_like_any_other() -> None:
    provided = registry().algorithm("avalanche:LwF")
    assert provided.spec == algorithm("LwF")
    assert provided.spec.name == "avalanche:LwF"
    options = parse_options(["avalanche:LwF.alpha=3"], [provided.spec])
    assert options == {"avalanche:LwF": {"alpha": 3.0}}
    (job,) = make_plan(
        Request(("avalanche:LwF",), sequences=("S_pl",), options=("avalanche:LwF.alpha=3",))
    ).asked
    assert job.options == {"alpha": 3.0, "temperature": 2.0}
    assert job.provider.startswith("avalanche-lib ")
    assert job.name.startswith("bell-S_pl-avalanche_LwF-r0-s0-")


def test_other_names_resolve_as_before() -> None:
    assert registry().algorithm("bell-bench:sa").spec.name == "sa"
    assert not {p.distribution for p in registry().algorithms} & registry().families
    with pytest.raises(UsageError, match="unknown algorithm 'Naive'"):
        registry().algorithm("Naive")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("avalanche:Naiv", "did you mean Naive"),
        ("avalanche:JointTraining", "not supported: it learns all problems at once"),
        ("avalanche:", "unknown strategy of avalanche ''"),
    ],
)
def test_what_cannot_run_says_why(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        registry().algorithm(name)


@pytest.mark.parametrize("name", SUPPORTED)
def test_every_supported_strategy_has_whole_options(name: str) -> None:
    spec = algorithm(name)
    defaults = {key: option.default for key, option in spec.options.items()}
    assert complete(spec, defaults) == defaults
    assert spec.summary.endswith(".")


def test_list_and_describe() -> None:
    listed = CliRunner().invoke(cli, ["list", "avalanche", "--json"])
    rows = {row["name"]: row for row in json.loads(listed.output)["avalanche"]}
    assert rows["avalanche:Naive"]["supported"]
    assert not rows["avalanche:GEM"]["supported"]
    assert "quadprog" in rows["avalanche:GEM"]["reason"]
    text = CliRunner().invoke(cli, ["list", "avalanche"]).output
    assert "avalanche:AGEM" in text
    assert "no: it needs the solver quadprog" in text
    described = CliRunner().invoke(cli, ["describe", "avalanche:AGEM"])
    assert "avalanche:AGEM.sample_size" in described.output


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys\n"
        "import bell_bench_avalanche\n"
        "from bell_bench.plugins import registry\n"
        "registry().algorithm('avalanche:Naive'), registry().algorithm('er')\n"
        "print(sorted({'avalanche', 'torch', 'torchvision'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise {error}
sys.meta_path.insert(0, Block())
from bell_bench.import_strings import load_object
for load in ("bell_bench_algorithms.er:ER", "bell_bench_avalanche.strategies:Naive"):
    try:
        load_object(load)
    except Exception as error:
        print(error)
print(load_object("bell_bench_algorithms.sa:Standalone").__name__)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "error", "advice"),
    [
        (
            "avalanche",
            'ModuleNotFoundError("no", name="avalanche")',
            "Avalanche is not installed: pip install avalanche-lib",
        ),
        (
            "torchvision",
            'ModuleNotFoundError("no", name="torchvision")',
            "Avalanche needs torchvision: torchvision is not installed: pip install torchvision",
        ),
        ("torchvision", 'RuntimeError("operator is broken")', "operator is broken"),
    ],
)
def test_absence_and_breakage_are_told_and_harm_nobody_else(
    package: str, error: str, advice: str
) -> None:
    code = BLOCKED.format(package=package, error=error)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours, theirs, other = done.stdout.strip().splitlines()
    assert advice in ours
    assert advice in theirs
    assert other == "Standalone"


@pytest.mark.slow
def test_the_table_is_that_of_the_installed_avalanche() -> None:
    from bell_bench.files import read_json
    from bell_bench_avalanche.catalogue import TABLE
    from bell_bench_avalanche.make_table import REASONS, make_table

    made = make_table()
    assert made == read_json(TABLE), "run `python -m bell_bench_avalanche.make_table`"
    assert set(REASONS) <= set(made)
