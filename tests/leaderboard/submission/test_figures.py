"""Figures from arrays, against the definitions written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bell_bench.records import Job, JobAccuracies
from bell_bench.records.scores import recorded_scores
from bell_bench_submissions.figures import all_scores, array_names, figures

SA = Job(algorithm="sa", load="a:B", provider="bell-bench 0.1", suite="s", suite_version="1",
         sequence="S", realisation=0, realisation_seed=3, seed=0, scale="quick", data="d",
         protocol="paper")  # fmt: skip
PICLE = structs.replace(SA, algorithm="picle")


@given(st.integers(1, 22), st.integers(0, 2**32 - 1))
def test_accuracies_are_shares_of_right_answers(count, seed):
    random = np.random.RandomState(seed)
    arrays = {name: random.randint(3, size=10).astype(np.uint8) for name in array_names(count)}
    labels = [arrays[f"labels_{i}"] for i in range(count)]
    found = figures(arrays, labels)
    for i in range(count):
        right = sum(a == b for a, b in zip(arrays[f"final_{i}"], labels[i], strict=True))
        assert found.final[i] == pytest.approx(right / 10)
    if count > 20:
        assert found.matrix == []
    else:
        assert [len(row) for row in found.matrix] == list(range(1, count + 1))
        assert found.matrix[-1][0] == np.mean(arrays[f"after_{count - 1}_0"] == labels[0])
    scores = recorded_scores(found)
    assert scores["A"] == pytest.approx(100 * sum(found.final) / count)
    lost = [b - a for a, b in zip(found.learnt, found.final, strict=True)]
    assert scores["F"] == pytest.approx(100 * sum(lost) / count)
    assert scores["backward_transfer"] == pytest.approx(100 * lost[0])


def made(last: float) -> JobAccuracies:
    return JobAccuracies([0.5, last], [0.5, last])


def test_transfer_is_measured_against_our_standalone_run():
    metrics = all_scores({"a": PICLE, "b": SA}, {"a": made(0.8), "b": made(0.6)})
    assert metrics["a"]["Tr_last"] == pytest.approx(20)
    assert metrics["b"]["Tr_last"] == 0


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"realisation_seed": 4}, {"scale": "paper"}, {"provider": "theirs 1"}]
)
def test_no_other_run_is_a_yardstick(change):
    jobs = {"a": PICLE, "b": structs.replace(SA, **change)}
    assert all_scores(jobs, {"a": made(0.8), "b": made(0.6)})["a"]["Tr_last"] is None


def test_of_two_standalone_runs_the_one_made_alike_counts():
    jobs = {"a": PICLE, "b": SA, "c": structs.replace(SA, threads=2)}
    done = {"a": made(0.8), "b": made(0.6), "c": made(0.5)}
    assert all_scores(jobs, done)["a"]["Tr_last"] == pytest.approx(20)
    jobs["a"] = structs.replace(PICLE, threads=2)
    assert all_scores(jobs, done)["a"]["Tr_last"] == pytest.approx(30)
