"""Executors by name, and the files that travel where nothing is shared."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import socket
from typing import Any

import pytest

from bell_bench import forkserver
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.harness.events import EventReader, EventWriter
from bell_bench.harness.executor import JobLimits, LocalExecutor, Running, settle
from bell_bench.harness.executors import make_executor
from bell_bench.harness.state import Checkpoints, make_record
from bell_bench.plugins import registry
from bell_bench.records import Job, ResultStore
from bell_bench_ray.executor import RayExecutor, resources
from bell_bench_ray.file_transfer import checkpoint_files, pack, unpack

JOB = Job(algorithm="a", load="m:A", provider="p", suite="bell", suite_version="1", sequence="S",
          realisation=0, realisation_seed=1, seed=0, scale="quick", data="glyphs",
          protocol="paper")  # fmt: skip


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "runs")


def test_local_is_one_and_others_are_asked_back(store):
    assert isinstance(make_executor("local", store, JobLimits()), LocalExecutor)
    with pytest.raises(UsageError, match="did you mean local"):
        make_executor("locl", store, JobLimits())
    with pytest.raises(UsageError, match="needs an --executor"):
        make_executor("local", store, JobLimits(), address="127.0.0.1:6379")


def test_without_ray_the_command_to_install_it_is_told(store, monkeypatch):
    registry()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'ray\[default\]>=2.9'"):
        make_executor("ray", store, JobLimits())


def test_a_client_address_is_refused(store, monkeypatch):
    registry()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    with pytest.raises(UsageError, match="on a node of the cluster"):
        make_executor("ray", store, JobLimits(), address="ray://head:10001")


@pytest.mark.parametrize("instead", ["nothing", "folder", "file"])
def test_a_job_that_spoils_its_folder_does_not_end_the_run(store, monkeypatch, instead):
    folder = store.prepare(JOB, fresh=False)
    folder.log_file.write_text("told")
    tell, events = EventWriter(folder.events_file), EventReader(folder.events_file)
    tell("started")
    assert [event["event"] for event in events] == ["started"]
    running = Running(JOB, folder, forkserver.Child(socket.socket(), os.getpid()), events)
    shutil.rmtree(folder.path)
    monkeypatch.setattr(pathlib.Path, "exists", lambda self: True)  # as it was a moment ago
    if instead == "folder":
        folder.events_file.mkdir(parents=True)
    if instead == "file":
        folder.path.write_text("mine now")
    tell("solved")
    assert list(events) == []
    assert running.over(JobLimits()) is None
    assert settle(JOB, folder, "failed", "exit code 3").reason.startswith("exit code 3")


def test_a_job_that_cannot_be_started_costs_its_row(store):
    folder, ended = store.prepare(JOB, fresh=False), list[dict[str, Any]]()
    folder.log_file.mkdir()
    executor = LocalExecutor(store, JobLimits(), 1)
    executor.run([JOB], on_event=print, on_finished=lambda _, record: ended.append(record))
    assert [record.status for record in ended] == ["failed"]
    assert "could not be started: [Errno 21] Is a directory" in ended[0].reason


@pytest.mark.parametrize(("status", "kept"), [("unsupported", True), ("failed", False)])
def test_a_record_that_another_run_made_meanwhile_is_kept(store, monkeypatch, status, kept):
    registry()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(RayExecutor, "_start", lambda self, away: None)
    folder = store.folder_of(JOB)
    folder.write(make_record(JOB, status, "of another run", None))
    RayExecutor(store, JobLimits())._send(JOB)
    assert folder.record_file.exists() == kept


def test_what_a_job_asks_of_a_node():
    assert resources(JOB, JobLimits()) == {"num_cpus": 1, "num_gpus": 0}
    large = Job(**{**JOB.to_json(), "threads": 4, "device": "cuda"})
    asked = resources(large, JobLimits(memory_bytes=5))
    assert asked == {"num_cpus": 4, "num_gpus": 1, "memory": 5}
    with pytest.raises(UsageError, match="Ray chooses the card"):
        resources(Job(**{**JOB.to_json(), "device": "cuda:1"}), JobLimits())


def test_an_earlier_attempts_record_is_not_taken_for_this_ones(store):
    """As when a process dies before it can take its turn."""
    folder = store.folder_of(JOB)
    folder.write(make_record(JOB, "timeout", "of last week", None))
    assert settle(JOB, folder, "failed", "exit code 3").reason == "exit code 3"
    assert folder.record().status == "failed"
    folder.write(make_record(JOB, "unsupported", "told by the worker", None))
    assert settle(JOB, folder, "failed", "exit code 3").status == "unsupported"


def test_a_checkpoint_travels_whole_and_replaces_the_older(store, tmp_path):
    there = ResultStore(tmp_path / "there")
    for number, place in ((1, store), (2, there)):
        checkpoints = Checkpoints(place.folder_of(JOB).work / "checkpoints")
        folder = checkpoints.begin(number)
        (folder / "state.json").write_text(str(number))
        (folder / "algorithm").mkdir()
        (folder / "algorithm" / "complete").write_text("an algorithm's own file")
        checkpoints.complete(folder)
    library = there.folder_of(JOB).work / "library"
    library.mkdir()
    (library / "weights").write_bytes(b"w")
    (library / ".writing-1").write_bytes(b"half")
    files = checkpoint_files(there, JOB)
    assert [file.name for file in files] == ["weights", "complete", "state.json", "complete"]
    unpack(store, pack(there, files))
    kept = checkpoint_files(store, JOB)
    assert [file.parent.name for file in kept] == ["library", "algorithm", "0002", "0002"]
    assert not (store.folder_of(JOB).work / "checkpoints" / "0001").exists()


def test_a_checkpoint_that_goes_while_it_is_read_is_not_sent_in_part(store):
    checkpoints = Checkpoints(store.folder_of(JOB).work / "checkpoints")
    folder = checkpoints.begin(1)
    (folder / "algorithm").mkdir()
    for name in ("state.json", "algorithm/weights"):
        (folder / name).write_text("{}")
    checkpoints.complete(folder)
    files = checkpoint_files(store, JOB)
    assert len(pack(store, files)) == 3
    shutil.rmtree(folder / "algorithm")  # by the job, which has a newer one
    assert pack(store, files) == {}
    assert pack(store, checkpoint_files(store, JOB)) == {}, "what is half gone looks whole"
    (folder / "complete").unlink()
    assert checkpoint_files(store, JOB) == []


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../outside"])
def test_a_parcel_writes_nothing_outside_the_store(store, name):
    with pytest.raises(BellBenchError, match="outside"):
        unpack(store, {name: b"x"})
    assert not list(pathlib.Path(store.folder.parent).glob("outside*"))
