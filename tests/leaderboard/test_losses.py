"""``studies/picle_losses.py``: what is to blame where PICLE is worse than another."""

from __future__ import annotations

import pathlib
import runpy

import pytest
from msgspec.structs import replace

from bell_bench.records import SolvedProblem
from tests.leaderboard.making import RESOURCES, read, record

ROOT = pathlib.Path(__file__).parents[2]
LOSSES = runpy.run_path(str(ROOT / "studies/picle_losses.py"))


def solved(index, *evaluated, solution="", **note):
    """A problem of five layers, as a record tells it; the test points say what validation says."""
    paths = [{"path": path.split(), "accuracy": accuracy} for path, accuracy in evaluated]
    notes = [{"evaluated": paths}] if paths else [{"training": note}, {"budget": 3}]
    best = max([accuracy for _, accuracy in evaluated], default=0.8)
    return SolvedProblem.from_json(
        {"index": index, "path": solution.split() or None, "notes": notes, "resources": RESOURCES,
         "accuracy_learnt": best, "accuracy_final": best, "fingerprint": "", "test_fingerprint": ""}
    )  # fmt: skip


AFRESH = "new new new new new"
FIRST = solved(0, (AFRESH, 0.9), solution="1.1 1.2 1.3 1.4 1.5")
SECOND = solved(1, (AFRESH, 0.9), solution="2.1 2.2 2.3 2.4 2.5")
OTHERWISE = solved(1, ("1.1 new new new new", 0.9), solution="1.1 2.2 2.3 2.4 2.5")
"""The second problem with other modules."""
MINE = solved(2, (AFRESH, 0.6), ("2.1 new new new new", 0.7))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("1.1 new new new new", "statistics"),
        ("1.1 2.2 2.3 2.4 2.5", "statistics"),  # all of it known: a prefix, as PT has it
        ("new new 1.3 1.4 1.5", "search"),
        ("new 2.2 2.3 2.4 2.5", "search"),
        ("new new 1.3 2.4 2.5", "space"),  # no end of one solution
        ("new new new 1.4 1.5", "space"),  # too short an end
        ("new 1.2 new new new", "space"),
        ("1.1 new new new 1.5", "space"),
    ],
)
def test_a_better_path_tells_what_kept_picle_from_it(path, said):
    theirs = [FIRST, SECOND, solved(2, (AFRESH, 0.6), (path, 0.8))]
    assert LOSSES["cause"]([FIRST, SECOND, MINE], theirs) == said


@pytest.mark.parametrize("path", ["2.1 new new new new", "new new 2.3 2.4 2.5"])
def test_a_module_trained_with_others_is_not_the_same(path):
    theirs = [FIRST, SECOND, solved(2, (path, 0.8))]
    assert LOSSES["cause"]([FIRST, OTHERWISE, MINE], theirs) == "library"


def test_as_good_on_validation_is_luck_whatever_the_path_and_the_seed():
    lucky = replace(solved(2, ("new 1.2 new new new", 0.7)), accuracy_learnt=0.9)
    theirs = [FIRST, SECOND, lucky]
    for one_seed in (True, False):
        found = LOSSES["cause"]([FIRST, SECOND, MINE], theirs, one_seed=one_seed)
        assert found == "validation"


def test_another_seed_and_another_way_of_training_are_named():
    theirs = [FIRST, SECOND, solved(2, ("1.1 new new new new", 0.8))]
    assert LOSSES["cause"]([FIRST, SECOND, MINE], theirs, one_seed=False) == "seed"
    trained = [solved(index, validation_accuracy=0.8) for index in range(3)]
    assert LOSSES["cause"]([FIRST, SECOND, MINE], trained) == "training"
    silent = [solved(index) for index in range(3)]
    assert LOSSES["cause"]([FIRST, SECOND, MINE], silent) == "training"


def test_what_later_problems_gave_is_told_apart():
    improved = replace(solved(0, validation_accuracy=0.95), accuracy_learnt=0.9)
    assert LOSSES["cause"]([FIRST], [replace(improved, accuracy_final=0.97)]) == "backward"


def test_half_a_point_is_equal_whatever_the_last_digits():
    assert 100 * (0.53 - 0.535) < -0.5
    own, its = (replace(FIRST, name="one", accuracy_final=value) for value in (0.53, 0.535))
    mine, theirs = ({1: replace(read(record()), problems=[each])} for each in (own, its))
    (found,) = LOSSES["differences"](mine, theirs)
    assert (found.test, found.cause) == (-0.5, "")


@pytest.mark.slow
def test_the_published_table_is_of_the_published_records():
    groups = LOSSES["grouped"](LOSSES["read_records"](LOSSES["PUBLISHED"]))
    report = LOSSES["report"](groups["short sequences, bell, 1, quick, glyphs, paper"])
    table = [line for line in report if line.startswith("|")]
    assert len(table) == 2 + 11
    told = (ROOT / "docs/results.md").read_text("utf-8")
    assert "\n".join(table) in told
