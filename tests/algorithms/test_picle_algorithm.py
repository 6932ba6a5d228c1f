"""PICLE as a job runs it: on tiny BELL problems, with real training."""

from __future__ import annotations

import dataclasses
import json
import pathlib

import pytest

from bell_bench.data import DomainSizes
from bell_bench.errors import UsageError
from bell_bench.harness.context import JobContext
from bell_bench.import_strings import load_object
from bell_bench.modular.path import NEW
from bell_bench.options import complete
from bell_bench.suites.bell.protocol import PROTOCOLS
from bell_bench.suites.bell.scales import BellScale
from bell_bench.suites.bell.suite import BellSequence
from bell_bench_algorithms import bell_bench_algorithms
from bell_bench_algorithms.picle.picle import NTOnly, Picle, PTOnly
from tests.algorithms.picle_context import Counting
from tests.modular.making import make_evaluator, make_problem

SCALE = BellScale(
    "quick", "tiny", 200, 200, 64, 64, DomainSizes(800, 80, 80), width=4, patience=20,
    max_updates=20, validate_every=20, learning_rate=0.002, weight_decay=0.1,
)  # fmt: skip


@dataclasses.dataclass
class TinyJob:
    suite: str = "bell"
    seed: int = 0
    sequence: str = "S_few"
    device: str = "cpu"
    protocol: str = "paper"


def sequence(name: str, seed: int) -> BellSequence:
    return BellSequence(name, seed, SCALE, PROTOCOLS["paper"], "glyphs")


def start(folder: pathlib.Path, **options) -> Picle:
    """PICLE in a job of its own; evaluations are shared by all jobs beside it."""
    context = JobContext(
        TinyJob(), None, sequence("S_few", 50).settings,
        work=folder, evaluations=folder.parent / "evaluations", tell=lambda *_, **__: None,
    )  # fmt: skip
    return Picle(context, **options)


def told(algorithm: Picle) -> str:
    return json.dumps(algorithm.context.notes, allow_nan=False)


@pytest.fixture(scope="module")
def few() -> list:
    problems = sequence("S_few", 50)
    return [problems.problem(index) for index in range(6)]


@pytest.fixture(scope="module")
def whole(few, tmp_path_factory) -> Picle:
    algorithm = start(tmp_path_factory.mktemp("jobs") / "whole")
    for problem in few:
        algorithm.learn(problem)
    return algorithm


@pytest.mark.slow
def test_standalone_then_prefixes_then_suffixes(whole):
    notes = whole.context.notes
    last = notes[-1]
    searched = [row["by"] for row in last["evaluated"]]
    assert searched == sorted(searched, key=["SA", "PT", "NT"].index)
    assert searched[:10] == ["SA", *["PT"] * 8, "NT"]
    for row in last["evaluated"][1:9]:
        reused = [name != NEW for name in row["path"]]
        assert reused == sorted(reused, reverse=True)
    for row in last["evaluated"][9:]:
        reused = [name != NEW for name in row["path"]]
        assert reused == sorted(reused)
    assert [sum(name != NEW for name in row["path"]) for row in last["evaluated"]][-4:] == [
        4,
        5,
        6,
        7,
    ]
    told(whole)


@pytest.mark.slow
def test_types_keep_classifiers_and_pairs_apart(whole):
    notes = [note for note in whole.context.notes if "chosen" in note]
    third = [row["by"] for row in notes[2]["evaluated"]]
    assert third == ["SA", *["PT"] * 5]  # no pair was learnt before: no layer 6, no suffix
    second = [row["by"] for row in notes[1]["evaluated"]]
    assert second == ["SA", *["PT"] * 5, *["NT"] * 2]


@pytest.mark.slow
def test_the_same_job_gives_the_same_paths_and_notes(whole, few, tmp_path_factory):
    again = start(whole.context.library.folder.parents[1] / "again")
    for problem in few:
        again.learn(problem)
    assert told(again) == told(whole)
    hashes = [[module.hash for module in job.context.library.modules] for job in (whole, again)]
    assert hashes[0] == hashes[1]


@pytest.mark.slow
def test_a_resumed_job_goes_on_as_the_uninterrupted_one(whole, few, tmp_path):
    jobs = whole.context.library.folder.parents[1]
    part = start(jobs / "part")
    for problem in few[:4]:
        part.learn(problem)
        if problem.index == 2:
            part.save(tmp_path)  # the fourth is lost
    resumed = start(jobs / "part")
    resumed.load(tmp_path)
    for problem in few[3:]:
        resumed.learn(problem)
    length = len(resumed.context.notes)
    assert resumed.context.notes == whole.context.notes[-length:]
    assert [resumed.solution(i) for i in range(6)] == [whole.solution(i) for i in range(6)]


@pytest.mark.slow
def test_a_flattened_domain_takes_suffixes_of_image_problems(tmp_path):
    problems = sequence("S_sp", 55)
    algorithm = start(tmp_path / "job")
    for index in (0, 1, 5):
        algorithm.learn(problems.problem(index))
    note = algorithm.context.notes[-1]
    rows = [(row["by"], *row["path"]) for row in note["evaluated"]]
    assert rows[0] == ("SA", *[NEW] * 5)
    assert {row[:3] for row in rows[1:]} == {("NT", NEW, NEW)}
    pt = next(note["pt"] for note in algorithm.context.notes[::-1] if "pt" in note)
    assert pt == {"layers": [], "stopped": "the library has no module for layer 1"}


def test_ablations_search_with_one_half_and_store_for_it_alone(tmp_path):
    for kind, by, stored in ((PTOnly, "PT", {"gaussian"}), (NTOnly, "NT", {"inputs"})):
        algorithm = kind(Counting(make_evaluator(tmp_path / by)))
        for index in range(3):
            algorithm.learn(make_problem(index))
        rows = [row["by"] for row in algorithm.context.notes[-1]["evaluated"]]
        assert set(rows[1:]) == {by}
        found = {key for module in algorithm.context.library.modules for key in module.attachments}
        assert found == stored


@pytest.mark.parametrize(
    ("option", "value"), [("k", 0), ("temperature", 0.0), ("ridge", -1.0), ("l_min", 0), ("c", 0)]
)
def test_impossible_options_are_refused_by_name(option, value):
    spec = next(spec for spec in bell_bench_algorithms() if spec.name == "picle")
    with pytest.raises(UsageError, match=rf"option picle\.{option} takes"):
        complete(spec, {option: value})


def test_it_is_registered_with_its_options(tmp_path):
    specs = {spec.name: spec for spec in bell_bench_algorithms()}
    context = Counting(make_evaluator(tmp_path))
    for name, kind in (("picle", Picle), ("pt-only", PTOnly), ("nt-only", NTOnly)):
        assert load_object(specs[name].load) is kind
        assert isinstance(kind(context, **complete(specs[name], {})), Picle)
    assert specs["picle"].options["k"].default == 20
    assert "searches" in specs["picle"].options
    assert set(specs["pt-only"].options) == {"k", "temperature", "ridge"}
