"""Jobs on a real cluster of two nodes: the figures of a local run, whatever becomes of a node."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import filelock
import pytest

from tests.harness.conftest import House, build
from tests.harness.figures import asked, figures
from tests.harness.patient import PATIENT, computed
from tests.plugin_folder import make_distribution
from tests.plugins.ray.ray_cluster import Cluster, make_cluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="Ray's clusters need Linux"),
]

ALGORITHMS = ("sa", "mntdp-d", "houdini", "picle")
NODE = "127.0.0.3"
APART = """
import dataclasses
from bell_bench.cli import main
from bell_bench_ray.executor import RayExecutor
order = RayExecutor._order
RayExecutor._order = lambda *of: dataclasses.replace(order(*of), out="/no/such/folder")
main()
"""
"""The command line, as if nodes did not see the driver's folder."""


@pytest.fixture(scope="module")
def place():
    with tempfile.TemporaryDirectory(prefix="bb", ignore_cleanup_errors=True) as folder:
        yield pathlib.Path(folder)


@pytest.fixture(scope="module")
def house(place) -> House:
    (place / "house").mkdir()
    house = build(place / "house")
    make_distribution(house.folder / "plugins", "patient", PATIENT)
    return house


@pytest.fixture(scope="module")
def cluster(place, house):
    cluster = make_cluster(place, **house.environment)
    try:
        cluster.start_head()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def two_nodes(cluster):
    if NODE not in cluster.nodes:
        cluster.start_node(NODE)
    return cluster


@pytest.fixture(scope="module")
def local(house):
    """The figures of a local run."""
    done = house.evaluate(*asked(*ALGORITHMS), "--out", "local")
    assert done.returncode == 0, done.stderr
    return figures(house.folder / "local")


def evaluated(out: pathlib.Path) -> list[str]:
    """The keys of all evaluations that were stored, each once."""
    return sorted(file.name[:64] for file in (out / "evaluations").glob("*/*.safetensors"))


def start(house: House, cluster: Cluster, *arguments: str, apart: bool = False) -> subprocess.Popen:
    command = [sys.executable, *(["-c", APART] if apart else ["-m", "bell_bench"])]
    command += ["evaluate", "--suite", "tiny", "--sequence", "S_pl", "--executor", "ray"]
    return subprocess.Popen(
        [*command, "--address", cluster.address, *arguments],
        env=cluster.environment, cwd=house.folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def wait_for(what, process: subprocess.Popen, seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def solved_since(house: House, lines: int) -> set[str]:
    """The algorithms that solved a problem since the log had so many lines."""
    new = house.observed()[lines:]
    return {line.split()[1] for line in new if line.startswith("solved")}


def test_limits_hold_on_a_node(house, two_nodes):
    for arguments in (
        (*asked("leak", "fail"), "--memory", "1500M"),
        (*asked("hang"), "--timeout", "5s"),  # with nobody else whom a busy machine makes slow
    ):
        process = start(house, two_nodes, *arguments)
        errors = process.communicate(timeout=400)[1]
        assert process.returncode == 1, errors
    assert house.record("hang")["status"] == "timeout"
    assert house.record("leak")["status"] == "out-of-memory"
    assert house.record("fail")["reason"] == "ValueError: no such luck"
    assert len(house.record("fail")["problems"]) == 2
    assert house.record("sa")["status"] == "done"


def test_ctrl_c_ends_jobs_on_nodes_and_the_same_command_goes_on(house, two_nodes):
    until, before = house.folder / "mended", len(house.observed())
    arguments = (*asked("hang"), "--option", f"hang.until={until}", "--out", "stopped")
    process = start(house, two_nodes, *arguments)
    try:
        wait_for(lambda: "solved hang 1" in house.observed()[before:], process)
        with pytest.raises(filelock.Timeout):
            job_lock(house.folder / "stopped").acquire(timeout=0)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    (record,) = (house.folder / "stopped").glob("*-hang-*/record.json")
    assert json.loads(record.read_text())["status"] == "interrupted"
    with job_lock(house.folder / "stopped").acquire(timeout=30):
        pass  # no worker goes on
    until.touch()
    again = start(house, two_nodes, *arguments)
    errors = again.communicate(timeout=300)[1]
    assert again.returncode == 0, errors
    assert "hang S_pl r0 s0: resumed after problem 2" in errors


def job_lock(out: pathlib.Path) -> filelock.BaseFileLock:
    """Whoever is at work on the job holds it."""
    (lock,) = out.glob("*-hang-*/lock")
    return filelock.FileLock(lock)


def test_no_cluster_there_is_told(house, tmp_path):
    gone = make_cluster(tmp_path, **house.environment)
    process = start(house, gone, *asked("sa"), "--out", "nowhere")
    errors = process.communicate(timeout=300)[1]
    assert process.returncode == 1
    assert "no Ray cluster answers at" in errors
    assert "to run" not in errors
    assert "Traceback" not in errors
    assert not list((house.folder / "nowhere").iterdir())


@pytest.mark.parametrize(
    ("apart", "algorithms"),
    [(False, ("mntdp-d", "picle")), (True, ALGORITHMS)],
    ids=["shared folder", "nothing shared"],
)
def test_a_node_is_killed_and_the_figures_are_those_of_a_local_run(
    house, two_nodes, local, apart, algorithms
):
    out, before = f"ray-{apart}", len(house.observed())
    process = start(house, two_nodes, *asked(*algorithms), "--out", out, apart=apart)
    try:
        wait_for(lambda: len(solved_since(house, before)) >= 2, process)  # both nodes are at work
        two_nodes.kill(NODE)
        errors = process.communicate(timeout=400)[1]
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert "its node was lost, starting again" in errors
    assert "Traceback" not in errors
    assert figures(house.folder / out) == {name: local[name] for name in {"sa", *algorithms}}
    keys = evaluated(house.folder / out)
    assert len(set(keys)) == len(keys)
    assert set(keys) <= set(evaluated(house.folder / "local"))
    assert not list((house.folder / out).glob(".run-*"))
    assert not list(two_nodes.temporary(two_nodes.head).glob("bell-bench-*"))


def test_paths_of_one_job_go_to_a_node_that_joins_until_it_is_lost(house, cluster, local):
    """The job is at work on the only node when another one joins, so that it stays there."""
    before, patient = len(house.observed()), house.folder / "patient"

    def at(node: str) -> int:
        """How many paths a node has computed, or is computing."""
        return [place for place, _ in computed(house.observed()[before:])].count(node)

    here, there = (cluster.temporary(ip).name for ip in (cluster.head, NODE))
    arguments = (*asked("mntdp-d"), "--parallel-paths", "2", "--jobs", "1", "--out", "paths")
    patient.touch()
    process = start(house, cluster, *arguments, apart=True)
    try:
        wait_for(lambda: "solved mntdp-d 0" in house.observed()[before:], process)
        cluster.start_node(NODE)
        wait_for(lambda: at(there) >= 3, process)
        cluster.kill(NODE)
        patient.unlink()
        errors = process.communicate(timeout=400)[1]
    finally:
        patient.unlink(missing_ok=True)
        process.kill()
    assert process.returncode == 0, errors
    assert "its node was lost" not in errors, "the job itself went on"
    found = figures(house.folder / "paths")
    assert found == {name: local[name] for name in ("mntdp-d", "sa")}
    assert at(here) + at(there) <= len(evaluated(house.folder / "paths")) + 1, "one was lost"
