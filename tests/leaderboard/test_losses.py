"""``benchmarks/picle_losses.py``: what is to blame where PICLE is worse than another."""

from __future__ import annotations

import pathlib
import runpy

import pytest

ROOT = pathlib.Path(__file__).parents[2]
LOSSES = runpy.run_path(str(ROOT / "benchmarks/picle_losses.py"))


def solved(index, *evaluated, solution="", **note):
    """A problem of two or three layers, as a record tells it."""
    paths = [{"path": path.split(), "accuracy": accuracy} for path, accuracy in evaluated]
    notes = [{"evaluated": paths}] if paths else [{"training": note}]
    return {"index": index, "path": solution.split() or None, "notes": notes}


FIRST = solved(0, ("new new new", 0.9), solution="1.1 1.2 1.3")
SECOND = solved(1, ("new new new", 0.9), solution="2.1 2.2 2.3")
OTHERWISE = solved(1, ("1.1 new new", 0.9), solution="1.1 2.2 2.3")
"""The second problem with other modules."""
MINE = solved(2, ("new new new", 0.6), ("2.1 new new", 0.7))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("1.1 new new", "statistics"),
        ("1.1 2.2 2.3", "statistics"),  # all of it known: a prefix, as PT has it
        ("new new 1.3", "search"),
        ("new 2.2 2.3", "search"),
        ("new 1.2 2.3", "space"),  # no end of one solution
        ("new 1.2 new", "space"),
        ("1.1 new 1.3", "space"),
    ],
)
def test_a_better_path_tells_what_kept_picle_from_it(path, said):
    theirs = [FIRST, SECOND, solved(2, ("new new new", 0.6), (path, 0.8))]
    assert LOSSES["cause"]([FIRST, SECOND, MINE], theirs) == said


@pytest.mark.parametrize("path", ["2.1 new new", "new 2.2 2.3"])
def test_a_module_trained_with_others_is_not_the_same(path):
    theirs = [FIRST, SECOND, solved(2, (path, 0.8))]
    assert LOSSES["cause"]([FIRST, OTHERWISE, MINE], theirs) == "library"


def test_as_good_on_validation_is_luck_whatever_the_path_and_the_seed():
    theirs = [FIRST, SECOND, solved(2, ("new 1.2 new", 0.7))]
    for one_seed in (True, False):
        found = LOSSES["cause"]([FIRST, SECOND, MINE], theirs, one_seed=one_seed)
        assert found == "validation"


def test_another_seed_and_another_way_of_training_are_named():
    theirs = [FIRST, SECOND, solved(2, ("1.1 new new", 0.8))]
    assert LOSSES["cause"]([FIRST, SECOND, MINE], theirs, one_seed=False) == "seed"
    trained = [solved(index, validation_accuracy=0.8) for index in range(3)]
    assert LOSSES["cause"]([FIRST, SECOND, MINE], trained) == "training"


@pytest.mark.slow
def test_the_published_table_is_of_the_published_records():
    groups = LOSSES["grouped"](LOSSES["read_records"](LOSSES["PUBLISHED"]))
    report = LOSSES["report"](groups["short sequences, bell, 1, quick, glyphs, paper"])
    table = [line for line in report if line.startswith("|")]
    assert len(table) == 2 + 11
    told = (ROOT / "docs/results.md").read_text("utf-8")
    assert "\n".join(table) in told
