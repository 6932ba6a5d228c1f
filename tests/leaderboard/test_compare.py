"""Paired differences and ranks on boards made by hand."""

from __future__ import annotations

import pytest

from bell_bench_leaderboard.boards import boards
from bell_bench_leaderboard.compare import difference, mean, ranks
from tests.leaderboard.making import record, result_rows, series

BASE = (0.2, 0.5, 0.8)
"""Realisations differ far more than algorithms do."""


def board(*records):
    (found,) = boards(result_rows(records))
    return found


def shifted(by, wobble=(0.001, -0.001, 0.0)):
    return [value + by + small for value, small in zip(BASE, wobble, strict=True)]


def test_a_difference_is_paired():
    """Unpaired, the realisations' spread would hide it."""
    found = difference(board(*series("a", shifted(0.05)), *series("b", BASE)), "A", "a", "b")
    assert found.mean == pytest.approx(5)
    assert found.low > 4
    assert found.high < 6


def test_sequences_that_share_their_problems_make_an_average_no_surer():
    """CTrL's streams have the same seeds, and most of their tasks in common."""
    alike, other = ({"sequence": name} for name in ("S_in", "S_sp"))
    here = board(*series("a", BASE, **alike), *series("a", BASE, **other))
    one, both = mean(here, "A", "a", ["S_in"]), mean(here, "A", "a")
    assert both.interval == pytest.approx(one.interval)
    apart = [
        record("a", (score,), realisation=i, realisation_seed=50 + i, **other)
        for i, score in enumerate(BASE)
    ]
    surer = mean(board(*series("a", BASE, **alike), *apart), "A", "a")
    assert surer.high - surer.low < 0.7 * (one.high - one.low)


def test_a_record_whose_realisation_has_another_seed_breaks_nothing():
    odd = record("b", (0.5,), realisation=2, realisation_seed=7)
    found = mean(board(*series("a", BASE), *series("b", BASE[:2]), odd), "A", "a")
    assert found.mean == pytest.approx(50)


def test_other_images_cannot_be_paired():
    here = board(*series("a", BASE), *series("b", BASE, data_hash="other"))
    assert difference(here, "A", "a", "b") is None


def test_what_differs_is_told_apart_and_what_does_not_is_a_tie():
    here = board(
        *series("best", shifted(0.1)),
        *series("middle", BASE),
        *series("twin", shifted(0.0, (0.004, -0.004, 0.001))),
    )
    found = {name: str(rank) for name, rank in ranks(here).items()}
    assert found == {"best": "1", "middle": "2–3", "twin": "2–3"}


def test_the_more_are_compared_the_more_it_takes():
    """All pairs together err one time in twenty, not each."""
    pair = [*series("a", BASE), *series("b", shifted(0.014, (-0.004, 0.0, 0.004)))]
    assert [str(each) for each in ranks(board(*pair)).values()] == ["2", "1"]
    crowd = [*pair, *series("c", shifted(-0.1)), *series("d", shifted(-0.15, (0.0, 0.001, -0.001)))]
    assert [str(each) for each in ranks(board(*crowd)).values()] == ["1–2", "1–2", "3", "4"]


def test_one_realisation_gives_no_ranks():
    assert ranks(board(record("a"), record("b", (0.1, 0.2)))) == {}


def test_who_has_not_completed_everything_is_not_ranked():
    here = board(
        *series("a", shifted(0.1)), *series("b", BASE), *series("c", BASE[:2]),
    )  # fmt: skip
    assert mean(here, "A", "c") is None
    assert set(ranks(here)) == {"a", "b"}


def test_seeds_of_one_realisation_are_one_value():
    here = board(record(seed=0, learnt=(0.2,)), record(seed=1, learnt=(0.4,)))
    found = mean(here, "A", "picle")
    assert found.mean == pytest.approx(30)
    assert found.interval is None


def test_what_nobody_completed_takes_no_ranks_away():
    """A long sequence that ran out of time looks short."""
    late = record("b", status="timeout", sequence="S_long")
    here = board(*series("sa", BASE), *series("b", shifted(0.1)), late)
    assert here.averaged == ["S_pl"]
    assert [str(each) for each in ranks(here).values()] == ["2", "1"]


def test_long_sequences_stand_by_themselves():
    here = board(
        *series("a", BASE),
        *(record("a", [0.9] * 30, sequence="S_long", realisation=i) for i in range(3)),
    )
    assert here.averaged == ["S_pl"]
    assert mean(here, "A", "a").mean == pytest.approx(50)
