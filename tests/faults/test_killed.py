"""kill -9 of a worker, of the parent, of both, at random moments of a run; then the same command
finishes it, and no figure tells that anything happened."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from bell_bench.files import read_arrays
from bell_bench.modular.evaluations import FOLDER, EvaluationStore, read_record
from bell_bench.modular.path import NEW
from tests.faults.run_jobs import ALGORITHM, OPTION, SEQUENCE
from tests.harness.conftest import House, build
from tests.processes import workers_of

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("BELL_BENCH_KILLS", "20"))
SEED = int(os.environ.get("BELL_BENCH_KILL_SEED", "11"))
IN_A_ROW = 5
"""Kills of one run before it may finish."""
VICTIMS = ("worker", "parent", "both")
MEASURED = {"wall_s", "cpu_s", "seconds", "cpu_seconds", "spent_seconds", "spent_cpu_seconds",
            "peak_memory_bytes"}  # fmt: skip
"""Of a problem's resources: what a clock or the system measures, which no two runs share."""
TIMES = {"wall_s", "cpu_s", "peak_memory_mb"}
"""The same, of a row."""


def test_a_run_that_is_killed_over_and_over_gives_the_figures_of_one_that_is_not(tmp_path):
    house = build(tmp_path)
    began = time.monotonic()
    start(house, "whole").wait()
    length = time.monotonic() - began
    expected = finish(house, "whole")
    print(f"seed {SEED}; uninterrupted, the jobs take {length:.1f} s")
    moments = random.Random(SEED)
    done = 0
    for life in range(4 * KILLS):
        out = f"killed-{life}"
        for _ in range(IN_A_ROW):
            if done == KILLS or not kill(house, out, VICTIMS[done % 3], moments.random() * length):
                break
            done += 1
        assert not list(differences(finish(house, out), expected))
        compare_costs(house, out)
        if done == KILLS:
            break
    assert done == KILLS


def differences(here: Any, there: Any, where: str = "") -> Iterator[str]:
    """Every place at which two values differ."""
    if isinstance(here, dict) and isinstance(there, dict):
        for key in here.keys() | there.keys():
            yield from differences(here.get(key), there.get(key), f"{where}/{key}")
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        for index, pair in enumerate(zip(here, there, strict=True)):
            yield from differences(*pair, f"{where}/{index}")
    elif here != there:
        yield f"{where}: {here} after kills, {there} without"


def start(house: House, out: str) -> psutil.Popen:
    return psutil.Popen(
        [sys.executable, "-m", "tests.faults.run_jobs", str(house.folder / out)],
        env=house.environment, cwd=pathlib.Path(__file__).parents[2],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def kill(house: House, out: str, victim: str, moment: float) -> bool:
    """End a run at a moment; False if it was over by then."""
    parent = start(house, out)
    time.sleep(moment)
    workers = workers_of(parent)
    while victim == "worker" and not workers and parent.poll() is None:
        time.sleep(0.01)
        workers = workers_of(parent)
    if parent.poll() is not None:
        return False
    print(f"{out}: {victim} killed after {moment:.2f} s; solved: {solved(house, out)}")
    if victim != "worker":
        parent.kill()
    if victim != "parent":
        for worker in workers if victim == "both" else workers[:1]:
            with contextlib.suppress(psutil.NoSuchProcess):  # it was done, or fell with its parent
                worker.kill()
    parent.wait(120)
    _, left = psutil.wait_procs(workers, 20)
    assert not left, "a worker outlived its parent"
    return True


def solved(house: House, out: str) -> dict[str, int]:
    """Problems in the newest checkpoint of each job."""
    found = (house.folder / out).glob("*/work/checkpoints/*/complete")
    return {file.parts[-5].split("-")[2]: int(file.parent.name) for file in found}


def finish(house: House, out: str) -> dict[str, Any]:
    """The same command as a user gives it, to the end: its rows, records and predictions."""
    table = house.folder / f"{out}.csv"
    asked = ("--algo", ALGORITHM, "--option", OPTION)
    done = house.evaluate(*asked, "--out", out, "--csv", str(table), sequence=SEQUENCE)
    assert done.returncode == 0, done.stderr
    rows = [
        {name: value for name, value in row.items() if name not in TIMES}
        for row in csv.DictReader(table.open())
    ]
    return {"rows": rows, **{name: figures(record) for name, record in records(house, out).items()}}


def records(house: House, out: str) -> dict[str, dict[str, Any]]:
    found = (house.folder / out).glob("*/record.json")
    return {file.parent.name: json.loads(file.read_text()) | {"at": file.parent} for file in found}


def figures(record: dict[str, Any]) -> dict[str, Any]:
    """Everything in a record that must not depend on how often it was interrupted."""
    problems = [
        {
            **problem,
            "resources": {
                name: value
                for name, value in problem["resources"].items()
                if name not in MEASURED and name != "paths_computed"
            },
        }
        for problem in record["problems"]
    ]
    arrays = read_arrays(record["at"] / "predictions.npz")
    return {
        "status": record["status"],
        "problems": problems,
        "matrix": record["matrix"],
        "metrics": record["metrics"],
        "settings": record["settings"],
        "predictions": {name: array.tolist() for name, array in arrays.items()},
    }


def compare_costs(house: House, out: str) -> None:
    """Every problem is charged what the store says its paths took, whoever computed them and
    however often it was begun; no path was computed again that had been stored; and what was begun
    again is stated."""
    mine, whole = records(house, out), records(house, "whole")
    stored = evaluations(house, out)
    assert stored.keys() == evaluations(house, "whole").keys()
    for name, record in mine.items():
        assert record["resumed"] == sorted(record["resumed"])
        assert all(0 < count <= 6 for count in record["resumed"])
        for problem, other in zip(record["problems"], whole[name]["problems"], strict=True):
            used, theirs = problem["resources"], other["resources"]
            costs = [
                entry["cost"]
                for entry in stored.values()
                if entry["identity"]["problem"] == problem["fingerprint"]
                and (record["job"]["algorithm"] != "sa" or {*entry["identity"]["path"]} == {NEW})
            ]
            assert len(costs) == used["paths_evaluated"]
            for total, charged in (("wall_s", "seconds"), ("cpu_s", "cpu_seconds")):
                assert used[charged] == pytest.approx(sum(cost[charged] for cost in costs))
                assert used[total] > used[charged] - 1e-6, "with what it did by itself"
            assert 0.3 < used["peak_memory_bytes"] / theirs["peak_memory_bytes"] < 3
    once = computed(whole)
    assert sum(once) == len(stored)
    begun_again = {0, *(count for record in mine.values() for count in record["resumed"])}
    for index, (here, there) in enumerate(zip(computed(mine), once, strict=True)):
        assert here == there or (here < there and index in begun_again)


def evaluations(house: House, out: str) -> dict[str, dict[str, Any]]:
    """The stored evaluations by key; one that was computed twice would lie there twice, as no two
    take the same time."""
    entries = EvaluationStore(house.folder / out / FOLDER).entries()
    found = {each.key: read_record(each.file.read_bytes(), each.key) for each in entries}
    assert len(found) == len(entries), "computed although it had been stored"
    return {key: record for key, record in found.items() if record is not None}


def computed(found: dict[str, dict[str, Any]]) -> list[int]:
    """How many paths all jobs together computed, problem by problem: which of them computes a path
    that several ask for is a matter of chance."""
    counts = ([problem["resources"]["paths_computed"] for problem in record["problems"]]
              for record in found.values())  # fmt: skip
    return [sum(each) for each in zip(*counts, strict=True)]
