"""What does not fit is told by its place and value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bell_bench.records import Record
from tests.leaderboard.making import record

Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda content: content.pop("status"), "status: missing"),
        (lambda content: content["job"].pop("seed"), "job.seed: missing"),
        (lambda content: content["job"].update(surprise=1), "job.surprise: unknown field"),
        (lambda content: content["job"].update(seed=-1), "job.seed: expected `int` >= 0, found -1"),
        (lambda content: content["job"].update(seed=[1]), "job.seed: expected `int`, got `array`"),
        (lambda content: content["problems"][1].update(path=["new", 1]),
         "problems[1].path[1]: expected `str`, found 1"),
        (lambda content: content["problems"][1]["resources"].update(cpu_s="x" * 2000),
         "problems[1].resources.cpu_s: expected `float`, found 'xxxxxxxxxxxx...xxxxxxxxxxxxx' of "
         "2,000 characters"),
        (lambda content: content.update(metrics={"A": "high"}),
         "metrics[...]: expected `float`, got `str`"),
        (lambda content: content.update(metrics={"A": float("inf")}),
         "metrics.A is inf, not a finite number"),
        (lambda content: content.update(schema=2, status=[]), "schema is 2, not 1"),
        (lambda content: content.update(problems=[]), "problems is empty, and yet status is done"),
        (lambda content: content.update(matrix=[[0.5]]), "matrix has 1 rows, not 2"),
        (lambda content: content.update(matrix=[[0.5], [0.5]]), "matrix[1] has 1 entries, not 2"),
        (lambda content: content["problems"][1].pop("accuracy_final"),
         "problems[1].accuracy_final is missing, and yet status is done"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_by_its_place_and_value(change: Change, told: str) -> None:
    content = record()
    assert Record.from_json(content).done
    change(content)
    with pytest.raises(ValueError) as error:  # noqa: PT011  # its whole text is compared
        Record.from_json(content)
    assert str(error.value) == told


def test_what_is_no_object_is_told() -> None:
    with pytest.raises(ValueError, match=r"^expected `object`, got `array`$"):
        Record.from_json([])


def test_what_was_a_mapping_can_be_used_as_one_and_warns() -> None:
    """Observers of other distributions did so, as our pages told them to."""
    typed = Record.from_json(content := record())
    with pytest.warns(
        DeprecationWarning, match=r"Record\['status'\] is written Record\.status now"
    ):
        assert typed["status"] == "done"
    with pytest.warns(DeprecationWarning, match=r"Job\.get\('seed'\) is written Job\.seed now"):
        assert typed.job.get("seed") == content["job"]["seed"]
    with pytest.warns(DeprecationWarning, match="surprise"):
        assert typed.get("surprise", 3) == 3
    with pytest.warns(DeprecationWarning, match="surprise"), pytest.raises(KeyError):
        typed["surprise"]
    with pytest.warns(DeprecationWarning, match=r"Job\.algorithm"):
        assert dict(typed.job).items() >= content["job"].items()
    assert "status" in typed
    assert "surprise" not in typed
