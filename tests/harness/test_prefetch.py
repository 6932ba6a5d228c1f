"""Which paths are sent away, and when; what becomes of them is in test_parallel_paths.py."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import pytest

from bell_bench.errors import UsageError
from bell_bench.harness.prefetch import PoolLost, Prefetch
from bell_bench.modular.path import NEW, ModulePath

PROBLEM = SimpleNamespace(index=0, fingerprint="f")
LIBRARY = {str(number): f"module {number}" for number in range(8)}
PATHS = [ModulePath((str(number), NEW)) for number in range(8)]


class FakePendingEvaluation:
    def __init__(self, path: ModulePath) -> None:
        self.path, self.over, self.cancelled = path, False, False

    def done(self) -> bool:
        return self.over

    def fetch(self) -> bool:
        self.over = True
        return True

    def cancel(self) -> None:
        self.cancelled = True


class FakePool:
    def __init__(self) -> None:
        self.sent: list[FakePendingEvaluation] = []
        self.there = self.lost = False

    def send(self, wanted, library):
        if self.lost:
            raise PoolLost("all gone")
        if not self.there:
            return None
        assert wanted.modules == (f"module {wanted.path.modules[0]}",)
        self.sent.append(FakePendingEvaluation(wanted.path))
        return self.sent[-1]

    def close(self) -> None:
        pass

    @property
    def numbers(self) -> list[int]:
        return [PATHS.index(pending.path) for pending in self.sent]


class FakeEvaluator:
    """Knows path 5 already, and refuses path 6."""

    library = LIBRARY
    store = SimpleNamespace(get=lambda key: "an entry" if key == 5 else None)

    def key(self, path, problem):
        if path == PATHS[6]:
            raise UsageError("no such path")
        return PATHS.index(path)


@pytest.fixture
def pool() -> FakePool:
    pool = FakePool()
    pool.there = True
    return pool


@pytest.fixture
def ask(pool):
    """Ask for a path by its number, of three at once; whether it was computed elsewhere."""
    ahead = Prefetch(pool, 3)
    ahead.offer(PATHS, PROBLEM)

    def ask(number: int) -> bool:
        return ahead.wait(PATHS[number], PROBLEM, FakeEvaluator())

    ask.ahead = ahead
    return ask


def test_the_job_has_its_own_path_while_others_are_away(ask, pool):
    assert not ask(0)
    assert pool.numbers == [1, 2]
    pool.sent[1].over = True
    assert ask(1)
    assert pool.numbers == [1, 2, 4], "3 is left to the job, which waits for 1"
    assert ask(2)
    assert not ask(3)
    assert pool.numbers == [1, 2, 4, 7], "5 is known, 6 is no path"


def test_nothing_is_sent_before_somebody_is_there(ask, pool):
    pool.there = False
    assert not ask(0)
    assert not ask(1)
    pool.there = True
    assert not ask(2)
    assert pool.numbers == [3, 4]


def test_a_lost_pool_is_told_once(ask, pool):
    pool.lost = True
    with pytest.warns(UserWarning, match="parallel-paths: all gone; going on without"):
        assert not ask(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not ask(1)


def test_what_was_not_asked_for_is_called_off(ask, pool):
    ask(0)
    ask.ahead.forget()
    assert all(pending.cancelled for pending in pool.sent)
    pool.sent[0].over = True
    ask.ahead.offer(PATHS[3:], PROBLEM)
    assert not ask(3)
    assert pool.numbers == [1, 2, 4], "the other one has not ended yet and keeps its place"
