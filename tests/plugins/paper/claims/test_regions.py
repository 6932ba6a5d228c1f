"""Every rule, with figures made by hand, for all that an interval can say about it."""

from __future__ import annotations

import pytest

from bell_bench_leaderboard.bootstrap import MeanEstimate
from bell_bench_paper.claims.regions import (
    ASTRIDE,
    INSIDE,
    OUTSIDE,
    RULES,
    Region,
)

CASES = {
    "above": ({"margin": 5}, (5.1, 9), (1, 4.9), (4, 6)),
    "below": ({"margin": 5}, (1, 4.9), (5.1, 9), (4, 6)),
    "within": ({"value": 10, "tolerance": 2}, (8, 12), (12.1, 15), (7, 9)),
    "highest": ({}, (0.1, 3), (-3, -0.1), (-1, 3)),
    "ascending": ({}, (-3, -0.1), (0.1, 3), (-1, 3)),
}


def test_every_rule_has_its_cases():
    assert set(CASES) == set(RULES)


@pytest.mark.parametrize("rule", CASES)
def test_inside_outside_and_astride(rule):
    settings, inside, outside, astride = CASES[rule]
    region = RULES[rule](**settings)
    assert region.place(*inside) == INSIDE
    assert region.place(*outside) == OUTSIDE
    assert region.place(*astride) == ASTRIDE


def test_an_interval_wider_than_the_tolerance_is_astride():
    assert RULES["within"](tolerance=1).place(-2, 2) == ASTRIDE


def test_ties_tell_nothing_unless_the_tolerance_says_so():
    assert RULES["highest"]().place(0, 0) == ASTRIDE
    assert RULES["above"](margin=5).place(0, 0) == OUTSIDE
    assert RULES["highest"](tolerance=0.5).place(0, 0) == INSIDE


def test_room_is_to_the_nearer_border():
    region = RULES["within"](value=10, tolerance=2)
    assert region.room(MeanEstimate(10, 9, 11.5, 3)) == 0.5
    assert region.room(MeanEstimate(7, None, None, 1)) == -1


@pytest.mark.parametrize(
    ("region", "words"),
    [
        (RULES["above"](margin=5), "> 5"),
        (RULES["ascending"](), "< 0"),
        (RULES["within"](tolerance=1, value=3), "from 2 to 4"),
        (Region(low=1, closed=True), "≥ 1"),
    ],
)
def test_a_region_in_words(region, words):
    assert str(region) == words
