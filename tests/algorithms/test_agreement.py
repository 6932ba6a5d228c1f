"""The same path on the same problem and library gives the same number, whichever algorithm asks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import pytest

from bell_bench.data import DomainSizes
from bell_bench.harness.context import JobContext
from bell_bench.import_strings import load_object
from bell_bench.options import complete
from bell_bench.suites.bell.protocol import PROTOCOLS
from bell_bench.suites.bell.scales import BellScale
from bell_bench.suites.bell.suite import BellSequence
from bell_bench_algorithms import bell_bench_algorithms

pytestmark = pytest.mark.slow  # every modular algorithm learns two problems

SCALE = BellScale(
    "tiny", "", plus_points=96, minus_points=64, validation_points=40, test_points=20,
    domain=DomainSizes(train=80, validation=40, test=40), width=4, patience=6, max_updates=6,
)  # fmt: skip
NAMES = ("sa", "mntdp-d", "houdini", "rs", "pt-only", "nt-only", "picle")
OPTIONS = {"rs": {"trainings": 4, "paths_per_training": 3}, "houdini": {"paths": 8}}


@dataclass
class TinyJob:
    suite: str = "bell"
    sequence: str = "S_pl"
    seed: int = 0
    device: str = "cpu"
    protocol: str = "paper"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Per algorithm, the accuracy of every path that it asked for on the second problem.

    Each has a store of its own, so that whatever agrees was computed twice.
    """
    sequence = BellSequence("S_pl", 30, SCALE, PROTOCOLS["paper"], "glyphs")
    problems = [sequence.problem(index) for index in range(2)]
    specs = {spec.name: spec for spec in bell_bench_algorithms()}
    found = {}
    for name in NAMES:
        folder = tmp_path_factory.mktemp(name)
        context = JobContext(
            TinyJob(), None, sequence.settings,
            work=folder / "work", evaluations=folder / "evaluations", tell=lambda *_, **__: None,
        )  # fmt: skip
        options = complete(specs[name], OPTIONS.get(name, {}))
        algorithm = load_object(specs[name].load)(context, **options)
        algorithm.learn(problems[0])
        context.begin()
        algorithm.learn(problems[1])
        rows = next(note["evaluated"] for note in context.notes if "evaluated" in note)
        found[name] = {tuple(row["path"]): row["accuracy"] for row in rows}
    return found


@pytest.mark.parametrize(("one", "other"), [*combinations(NAMES, 2)])
def test_two_algorithms_agree_on_every_path_that_both_asked_for(asked, one, other):
    common = asked[one].keys() & asked[other].keys()
    assert common, "all ask for the standalone path"
    assert {path: asked[one][path] for path in common} == {
        path: asked[other][path] for path in common
    }


def test_they_share_more_than_the_standalone_path(asked):
    assert asked["pt-only"].keys() <= asked["picle"].keys()
    assert asked["nt-only"].keys() <= asked["picle"].keys()
    assert len(asked["mntdp-d"].keys() & asked["pt-only"].keys()) == 9
