"""Processes forked from one with the imports: as separate as if each had been started afresh."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys
import textwrap
import time
from typing import Any

import psutil
import pytest

from bell_bench import nursery
from tests.processes import nurseries_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere jobs are started afresh")

WORK = """
import atexit, json, os, random, signal, sys, threading, time
import numpy

LOADED_BY = os.getpid()

def start(parent, action, *words):
    facts = {"loaded_by": LOADED_BY, "parent": parent, "own": os.getpid(), "words": words,
             "session": os.getsid(0), "folder": os.getcwd(), "variable": os.environ.get("OF_ONE"),
             "ours": os.environ.get("BELL_BENCH_OF_ONE"),
             "numbers": [random.random(), numpy.random.rand()],
             "open": sorted(os.listdir("/proc/self/fd"))}
    print(json.dumps(facts), flush=True)
    if action == "wait":
        time.sleep(600)
    if action == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if action == "raise":
        raise ValueError("told in the log")
    if action == "later":
        threading.Timer(0.3, print, ["of a thread"]).start()
        atexit.register(sys.stdout.write, "at exit, unflushed")
        return 0
    return int(action)

if __name__ == "__main__":
    sys.exit(start(int(sys.argv[1]), *sys.argv[2:]))
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the module ``work``; what was started for it is ended."""
    (tmp_path / "work.py").write_text(textwrap.dedent(WORK))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(nursery, "LOADED", "work")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for each in nursery._nurseries.values():
        each.end()


def begin(place: pathlib.Path, *arguments: str, log: str = "log", **variables: str):
    with (place / log).open("ab") as file:
        return nursery.start("work", arguments, {**os.environ, **variables}, file)


def told(place: pathlib.Path, log: str = "log") -> dict[str, Any]:
    return json.loads((place / log).read_text().splitlines()[0])


def begun(place: pathlib.Path, log: str) -> dict[str, Any]:
    while not (place / log).read_text().endswith("\n"):
        time.sleep(0.01)
    return told(place, log)


def test_one_process_loads_and_each_job_has_its_own(place):
    first, second = (begin(place, "0", "a b", "ü", log=log) for log in ("one", "two"))
    assert first.wait() == second.wait() == 0
    one, two = told(place, "one"), told(place, "two")
    assert one["loaded_by"] == one["parent"] == two["loaded_by"] != os.getpid()
    assert one["words"] == ["a b", "ü"]
    assert one["own"] == one["session"] == first.pid != two["own"]
    assert one["folder"] == str(place)
    assert not set(one["numbers"]) & set(two["numbers"])


def test_a_job_has_no_file_of_its_siblings(place):
    waiting = [begin(place, "wait", log=f"log{i}") for i in range(3)]
    files = [begun(place, f"log{i}")["open"] for i in range(3)]
    assert files[0] == files[1] == files[2]
    for each in waiting:
        os.kill(each.pid, signal.SIGKILL)
        assert each.wait() == -signal.SIGKILL


def test_what_is_said_to_one_job_is_not_heard_by_the_next(place):
    begin(place, "0", log="one", BELL_BENCH_OF_ONE="x").wait()
    begin(place, "0", log="two").wait()
    assert told(place, "one")["ours"] == "x"
    assert told(place, "two")["ours"] is None
    assert told(place, "one")["loaded_by"] == told(place, "two")["loaded_by"]


def test_another_environment_loads_anew(place):
    begin(place, "0", log="one").wait()
    begin(place, "0", log="two", OF_ONE="x").wait()
    assert told(place, "two")["variable"] == "x"
    assert told(place, "one")["loaded_by"] != told(place, "two")["loaded_by"]
    assert len(nurseries_of(psutil.Process())) == 1, "what has no job left has ended"


@pytest.mark.parametrize(("action", "code"), [("0", 0), ("7", 7), ("die", -11), ("raise", 1)])
def test_how_it_ended_is_told(place, action, code):
    process = begin(place, action)
    assert process.wait() == process.poll() == process.returncode == code
    assert ("ValueError: told in the log" in (place / "log").read_text()) == (action == "raise")


def test_what_is_left_to_do_at_the_end_is_done(place):
    assert begin(place, "later").wait() == 0
    assert (place / "log").read_text().splitlines()[1:] == ["of a thread", "at exit, unflushed"]


def test_jobs_end_with_it_and_the_next_one_finds_another(place):
    process = begin(place, "wait", log="one")
    (home,) = nurseries_of(psutil.Process())
    begun(place, "one")
    home.kill()
    assert process.wait() == -signal.SIGKILL
    assert begin(place, "0", log="two").wait() == 0
    assert told(place, "two")["loaded_by"] != home.pid


def test_where_none_can_be_each_job_starts_afresh(place, monkeypatch):
    monkeypatch.setattr(nursery, "__name__", "nobody.has.this")
    process = begin(place, "3")
    assert process.wait() == 3
    assert told(place)["loaded_by"] == process.pid
    assert told(place)["parent"] == os.getpid()


def test_it_ends_with_the_process_that_orders(place):
    source = """
        import os, sys, time
        from bell_bench import nursery
        nursery.LOADED = "work"
        with open("log", "ab") as log:
            nursery.start("work", ["wait"], os.environ, log)
        time.sleep(600)
        """
    run = psutil.Popen([sys.executable, "-c", textwrap.dedent(source)], env={**os.environ})
    while not (place / "log").exists() or not (place / "log").read_text():
        assert run.poll() is None
        time.sleep(0.05)
    (home,) = nurseries_of(run)
    run.kill()
    run.wait()
    assert not psutil.wait_procs([home], 20)[1]
