"""A strategy of Avalanche from the command line: names, options, and where its chatter goes."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.harness.conftest import build


@pytest.mark.slow
def test_a_strategy_is_evaluated_like_any_algorithm(tmp_path: pathlib.Path) -> None:
    house = build(tmp_path)
    done = house.evaluate(
        "--algo", "avalanche:LwF", "--option", "avalanche:LwF.alpha=2", "--jobs", "1"
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "avalanche:LwF" in done.stdout
    (folder,) = (house.folder / "runs").glob("tiny-S_pl-avalanche_LwF-*")
    record = json.loads((folder / "record.json").read_text())
    assert record["status"] == "done"
    assert record["job"]["algorithm"] == "avalanche:LwF"
    assert record["job"]["options"]["alpha"] == 2.0
    assert record["problems"][-1]["resources"]["updates"] == 40
    chatter = "No loggers specified"
    assert chatter in (folder / "log.txt").read_text()
    assert chatter not in done.stdout + done.stderr
    shown = house.bell_bench("show", "S_pl-avalanche_LwF")
    assert shown.returncode == 0, shown.stderr
    assert "avalanche:LwF" in shown.stdout
