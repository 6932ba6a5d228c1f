"""Processes forked from one with the imports: as separate as if each had been started afresh."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any

import psutil
import pytest

from bell_bench import forkserver
from tests.processes import forkservers_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere jobs are started afresh")

WORK = """
import atexit, json, os, random, signal, subprocess, sys, threading, time
import numpy

LOADED_BY = os.getpid()

def start(action, *words):
    facts = {"loaded_by": LOADED_BY, "parent": os.getppid(), "own": os.getpid(), "words": words,
             "session": os.getsid(0), "folder": os.getcwd(), "variable": os.environ.get("OF_ONE"),
             "ours": os.environ.get("BELL_BENCH_OF_ONE"),
             "numbers": [random.random(), numpy.random.rand()],
             "open": sorted(os.listdir("/proc/self/fd"))}
    print(json.dumps(facts), flush=True)
    if action == "wait":
        time.sleep(600)
    if action == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if action == "write":
        global trace, binary
        trace, binary = open("trace.csv", "w"), open("trace.bin", "w+b")
        trace.write("not flushed")
        binary.write(b"not flushed")
        return 0
    if action == "close":
        sys.stdout.close()
        return 0
    if action == "breed":
        print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
        time.sleep(600)
    if action == "raise":
        raise ValueError("told in the log")
    if action == "later":
        threading.Timer(0.3, print, ["of a thread"]).start()
        atexit.register(sys.stdout.write, "at exit, unflushed")
        return 0
    return int(action)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the module ``work``; what was started for it is ended."""
    (tmp_path / "work.py").write_text(textwrap.dedent(WORK))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(forkserver, "LOADED", "work")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for each in forkserver._forkservers.values():
        each.end()
    forkserver._forkservers.clear()


def begin(place: pathlib.Path, *arguments: str, log: str = "log", **variables: str):
    with (place / log).open("ab") as file:
        return forkserver.start("work", arguments, {**os.environ, **variables}, file)


def told(place: pathlib.Path, log: str = "log") -> dict[str, Any]:
    return json.loads((place / log).read_text().splitlines()[0])


def begun(place: pathlib.Path, log: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while not (place / log).exists() or not (place / log).read_text().endswith("\n"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return told(place, log)


def gone(*processes: int) -> bool:
    """Within a while."""
    deadline = time.monotonic() + 20
    while any(map(psutil.pid_exists, processes)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_one_process_loads_and_each_job_has_its_own(place):
    first, second = (begin(place, "0", "a b", "ü", log=log) for log in ("one", "two"))
    assert first.wait() == second.wait() == 0
    one, two = told(place, "one"), told(place, "two")
    assert one["loaded_by"] == one["parent"] == two["loaded_by"] != os.getpid()
    assert one["words"] == ["a b", "ü"]
    assert one["own"] == one["session"] == first.pid != two["own"]
    assert one["folder"] == str(place)
    assert not set(one["numbers"]) & set(two["numbers"])


@pytest.mark.parametrize("start", [forkserver.start, forkserver.start_afresh])
def test_what_lies_in_the_folder_hides_no_module(place, monkeypatch, start):
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / "random.py").write_text("raise ImportError('not the real one')")
    monkeypatch.chdir(place / "elsewhere")
    with (place / "log").open("ab") as log:
        process = start("work", ["3"], os.environ, log)
    assert process.wait() == 3, (place / "log").read_text()
    assert (told(place)["loaded_by"] == process.pid) == (start is forkserver.start_afresh)


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
    assert len(forkservers_of(psutil.Process())) == 1, "what has no job left has ended"


@pytest.mark.parametrize(("action", "code"), [("0", 0), ("7", 7), ("die", -11), ("raise", 1)])
def test_how_it_ended_is_told(place, action, code):
    process = begin(place, action)
    assert process.wait() == process.poll() == process.returncode == code
    assert ("ValueError: told in the log" in (place / "log").read_text()) == (action == "raise")


def test_what_is_left_to_do_at_the_end_is_done(place):
    assert begin(place, "later").wait() == 0
    assert (place / "log").read_text().splitlines()[1:] == ["of a thread", "at exit, unflushed"]


@pytest.mark.slow
def test_hundreds_that_end_at_once_are_all_heard_of(place):
    for _ in range(300):
        assert begin(place, "0").wait() == 0


@pytest.mark.slow
def test_jobs_end_with_it_and_the_next_one_finds_another(place):
    process = begin(place, "wait", log="one")
    (home,) = forkservers_of(psutil.Process())
    begun(place, "one")
    home.kill()
    assert process.wait() == -signal.SIGKILL
    assert gone(process.pid)
    assert begin(place, "0", log="two").wait() == 0
    assert told(place, "two")["loaded_by"] not in (home.pid, told(place, "two")["own"])


def test_one_that_was_killed_while_idle_is_replaced(place):
    begin(place, "0").wait()
    (home,) = forkservers_of(psutil.Process())
    home.kill()
    while home.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert begin(place, "0", log="two").wait() == 0
    (other,) = forkservers_of(psutil.Process())
    assert told(place, "two")["loaded_by"] == other.pid != home.pid


def test_where_none_can_be_each_job_starts_afresh(place, monkeypatch):
    monkeypatch.setattr(forkserver, "LOADED", "nobody.has.this")
    process = begin(place, "3")
    assert process.wait() == 3
    assert told(place)["loaded_by"] == process.pid
    assert told(place)["parent"] == os.getpid()
    opened = []
    monkeypatch.setattr(forkserver.Forkserver, "open", lambda environment: opened.append(1))
    begin(place, "0").wait()
    assert not opened, "it is not tried over and over"


def test_an_interrupt_while_one_is_ordered_costs_that_one_alone(place, monkeypatch):
    sibling = begin(place, "wait", log="sibling")
    begun(place, "sibling")
    hear = forkserver._number

    def interrupted(*arguments):
        hear(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(forkserver, "_number", interrupted)
        with pytest.raises(KeyboardInterrupt):
            begin(place, "wait", log="lost")
    for number in range(3):
        process = begin(place, str(number), log=f"log{number}")
        assert process.wait() == number
        assert told(place, f"log{number}")["own"] == process.pid
    assert sibling.poll() is None
    (home,) = forkservers_of(psutil.Process())
    assert [child.pid for child in home.children()] == [sibling.pid]


def test_a_system_without_room_for_a_process_costs_the_others_nothing(place, monkeypatch):
    source = "import os, work\n\ndef full():\n    raise BlockingIOError\n\nos.fork = full\n"
    (place / "crowded.py").write_text(source)
    monkeypatch.setattr(forkserver, "LOADED", "crowded")
    process = begin(place, "4")
    assert process.wait() == 4
    assert told(place)["loaded_by"] == process.pid, "afresh"
    assert len(forkservers_of(psutil.Process())) == 1, "it goes on"


def test_a_fork_of_this_process_has_its_own_and_leaves_ours(place):
    process = begin(place, "wait", log="ours")
    begun(place, "ours")
    (home,) = forkservers_of(psutil.Process())
    with forkserver._lock:  # as another thread might hold it
        pid = os.fork()
        if pid == 0:
            os._exit(begin(place, "5", log="theirs").wait())
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
    assert told(place, "theirs")["parent"] != home.pid
    assert process.poll() is None
    assert home.is_running()


def test_files_left_open_are_whole(place):
    assert begin(place, "write").wait() == 0
    assert (place / "trace.csv").read_text() == (place / "trace.bin").read_text() == "not flushed"


def test_a_job_that_has_closed_its_output_ends_as_well_as_any(place):
    assert begin(place, "close").wait() == 0


def test_children_of_what_was_loaded_are_none_of_its_affair(place, monkeypatch):
    source = "import subprocess, work\nchild = subprocess.Popen(['sleep', '0.5'])\n"
    (place / "parental.py").write_text(source)
    monkeypatch.setattr(forkserver, "LOADED", "parental")
    waiting = begin(place, "wait")
    (home,) = forkservers_of(psutil.Process())
    (loaded,) = (each for each in home.children() if each.name() == "sleep")
    while loaded.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    time.sleep(0.2)
    assert begin(place, "4", log="two").wait() == 4
    assert told(place, "two")["parent"] == home.pid
    assert waiting.poll() is None


def test_threads_that_ask_at_once_hear_the_same(place):
    """As when one orders a job while another waits for its own."""
    with concurrent.futures.ThreadPoolExecutor(8) as askers:
        for _ in range(20):
            process = begin(place, "7")
            assert [*askers.map(lambda each: each.wait(), [process] * 8)] == [7] * 8


@pytest.mark.slow
def test_it_ends_with_the_process_that_orders(place):
    source = """
        import os, sys, time
        from bell_bench import forkserver
        forkserver.LOADED = "work"
        with open("log", "ab") as log:
            forkserver.start("work", ["breed"], os.environ, log)
        time.sleep(600)
        """
    run = psutil.Popen([sys.executable, "-c", textwrap.dedent(source)], env={**os.environ})
    job = begun(place, "log")
    while len(lines := (place / "log").read_text().split("\n")) < 3:
        time.sleep(0.01)
    assert psutil.pid_exists(int(lines[1]))
    run.kill()
    run.wait()
    assert gone(job["own"], job["loaded_by"], int(lines[1])), "what the job has started, too"


LEAVE = """
import atexit, threading, types
from bell_bench import forkserver
atexit.register(print, "the end")
threading.Timer(0.2, print, ["a thread"]).start()
{change}
forkserver.end_without_teardown(3)
"""


@pytest.mark.parametrize("change", ["", "forkserver.threading = types.SimpleNamespace()"])
def test_without_pythons_own_functions_a_process_ends_as_any(change):
    code = LEAVE.format(change=change)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "a thread\nthe end\n", "")


def test_python_still_has_what_a_process_is_ended_by_quickly():
    """If this fails: jobs end as any process does, a quarter of a second later."""
    ending = "forkserver.sys.exit = None; forkserver.end_without_teardown(4)"
    code = f"from bell_bench import forkserver; {ending}"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 4
