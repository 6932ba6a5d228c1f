"""What may stand beside accepted results."""

from __future__ import annotations

import pytest

from bell_bench_submissions.agreement import beyond, compare, identity
from tests.leaderboard.making import read, record, series

KNOWN = list(map(read, series("sa", (0.5, 0.6, 0.7))))


def test_more_realisations_than_others_have_are_told():
    (told,) = beyond(KNOWN, map(read, series("new", (0.5, 0.6, 0.7, 0.8))))
    assert told.startswith("new on S_pl r3 s0: accepted results have only r0 s0, r1 s0, r2 s0, and")
    assert len(list(beyond(KNOWN, [read(record(seed=1))]))) == 1


@pytest.mark.parametrize("change", [{"sequence": "S_in"}, {"scale": "paper"}, {"suite": "ctrl"}])
def test_another_sequence_or_setting_leaves_nobody_incomplete(change):
    assert not list(beyond(KNOWN, map(read, series("new", (0.5,) * 5, **change))))


@pytest.mark.parametrize(
    ("change", "same"),
    [({"provider": "bell-bench 9"}, True), ({"threads": 4, "software": "other"}, True),
     ({"realisation_seed": 31}, False), ({"provider": "mine 1"}, False)],
)  # fmt: skip
def test_any_versions_standalone_run_must_agree(change, same):
    assert (identity(read(record("sa")).job) == identity(read(record("sa", **change)).job)) == same


def test_another_version_or_option_may_be_better():
    names = {identity(read(record(provider=f"mine {n}", options={"k": k})).job)
             for n in (1, 2) for k in (1, 2)}  # fmt: skip
    assert len(names) == 4


def test_costs_of_nothing_agree_with_nothing():
    free, dear = (read(record(resources={"train_flops": cost})) for cost in (0, 1))
    assert all(each.near for each in compare(free, free))
    assert [each.near for each in compare(free, dear)] == [True, True, False, True]
