"""Imports tried elsewhere: what ends or hangs that process is named, the others are not blamed."""

from __future__ import annotations

import ctypes
import itertools
import os
import pathlib
import subprocess
import sys
import threading
import time

import psutil
import pytest

from bell_bench import forkserver, import_check

LOAD = f"{__name__}:load"


def load(item: str) -> str | None:
    """What is tried, in another process."""
    print("loud", flush=True)
    if item == "leave":
        os._exit(0)
    if item == "crash":
        ctypes.string_at(0)
    if item == "hang":
        time.sleep(600)
    if item == "flood":
        for _ in itertools.count():
            os.write(1, bytes(2**20))
    if item == "silence":
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if item == "thread":
        threading.Thread(target=time.sleep, args=(600,)).start()
    if item == "child":
        child = subprocess.Popen(["sleep", "600"])
        pathlib.Path("child").write_text(str(child.pid))
    return "it is wrong" if item == "wrong" else None


@pytest.fixture(params=[forkserver.start, forkserver.start_afresh])
def begin(request, monkeypatch):
    """Both ways to a process in which this module can be imported."""
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parents[1]))
    monkeypatch.setattr(forkserver, "LOADED", "bell_bench.import_check")
    return request.param


@pytest.mark.parametrize("items", [["crash", "good", "wrong", "leave"], ["good", "leave", "crash"]])
def test_each_that_ends_the_process_is_found(items, begin):
    known = {
        "wrong": "it is wrong",
        "leave": "loading leave ends the process with exit code 0",
        "crash": "loading crash ends the process with SIGSEGV",
    }
    found = import_check.try_out(LOAD, items, os.environ, begin=begin)
    assert found == {item: known[item] for item in items if item != "good"}


@pytest.mark.slow
def test_what_hangs_is_told_and_ended(monkeypatch, capsys, begin):
    monkeypatch.setattr(import_check, "SECONDS", 6)
    monkeypatch.setattr(import_check, "PATIENCE", 5)
    found = import_check.try_out(LOAD, ["hang", "wrong"], os.environ, begin=begin)
    assert found == {"hang": "loading hang takes over 6 s", "wrong": "it is wrong"}
    assert "loading hang takes long; it has 6 s\n" in capsys.readouterr().err


def test_what_prints_without_end_is_ended(begin):
    found = import_check.try_out(LOAD, ["flood", "good"], os.environ, begin=begin)
    assert found == {"flood": "loading flood prints over 16 MiB"}


def test_what_is_merely_odd_is_not_blamed_and_leaves_nothing(tmp_path, monkeypatch, begin):
    monkeypatch.chdir(tmp_path)
    began = time.monotonic()
    assert import_check.try_out(LOAD, ["silence", "thread", "child"], os.environ, begin=begin) == {}
    assert time.monotonic() - began < 300
    child = int((tmp_path / "child").read_text())
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() - began < 300
        time.sleep(0.01)


def test_nothing_is_started_for_nothing():
    assert import_check.try_out(LOAD, [], os.environ, begin=None) == {}


@pytest.mark.parametrize(
    ("code", "words"), [(7, "exit code 7"), (-9, "SIGKILL"), (-40, "signal 40")]
)
def test_an_ending_is_named(code, words):
    assert import_check.ending(code) == words
