"""The tiny problems that algorithms are tried on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from bell_bench.plugins import registry
from bell_bench_authors.testing.tiny_problems import FEW, POINTS, World, world_for
from tests.plugin_folder import make_distribution
from tests.tiny_suite import TINY


@pytest.fixture(scope="module")
def cut_down(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world of an algorithm that supports another suite than BELL alone."""
    folder = tmp_path_factory.mktemp("plugins")
    make_distribution(folder, "tiny", TINY)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        registry.cache_clear()
        yield world_for(("spoken", "tiny"))
    registry.cache_clear()


def test_a_suite_of_ones_own_is_cut_down(cut_down: World) -> None:
    assert (cut_down.suite, cut_down.protocol_name) == ("spoken", "plain")
    for task in cut_down.sequences["plain"]:
        for split in (task.problem.train, task.problem.validation, task.test):
            assert len(split) == POINTS
            assert set(np.unique(split.index)) == set(range(len(split.images))), "none unused"
    few = [task.problem for task in cut_down.sequences["few"][1:]]
    assert {len(problem.train) for problem in few} == {FEW}
    assert cut_down.settings.max_updates == 12


def test_problems_have_fingerprints_of_their_own(cut_down: World) -> None:
    for world in (world_for(()), cut_down):
        for tasks in world.sequences.values():
            prints = [task.problem.fingerprint for task in tasks]
            assert len(set(prints)) == len(prints)


def test_hand_made_problems_are_bells_in_small() -> None:
    world = world_for(("bell", "ctrl"))
    assert world.suite == "bell"
    mixed = [task.problem for task in world.sequences["mixed"]]
    assert [problem.train.images.shape[1:] for problem in mixed] == [
        (28, 28), (784,), (28, 28), (28, 28),
    ]  # fmt: skip
    assert [problem.train.arity for problem in mixed] == [2, 2, 1, 2]
    assert [problem.classes for problem in mixed] == [2, 2, 8, 2]
    for problem in mixed:
        assert problem.architecture.arity == problem.train.arity
