"""The bandit keeps every contract of bell-bench, and pulls the arm that promises most."""

from bell_bench.testing import check_algorithm
from bell_bench_bandit.bandit import Arm, _lengths


def test_it_keeps_every_contract() -> None:
    check_algorithm("bandit")


def test_an_arm_that_gained_promises_more_than_one_that_lost() -> None:
    winner, loser = Arm("first", 0, [], gains=[0.2]), Arm("last", 0, [], gains=[-0.2])
    assert winner.promise(0.0, 0.1, 2) > loser.promise(0.0, 0.1, 2)


def test_an_arm_pulled_often_promises_less_than_one_pulled_once() -> None:
    often, once = Arm("first", 0, [], gains=[0.1] * 5), Arm("first", 1, [], gains=[0.1])
    assert once.promise(0.1, 0.1, 6) > often.promise(0.1, 0.1, 6)


def test_every_length_is_there_once() -> None:
    assert _lengths(7) == [4, 7, 6, 5, 3, 2, 1]
    assert _lengths(1) == [1]
    assert _lengths(0) == []
