"""Start processes that need not wait for imports: they are forks of one that has imported.

A job still has its own process, session, environment and random numbers. It shares only the
forkserver, a process that has imported torch and bell-bench and done nothing else. On Linux, one
forkserver lives as long as the process that runs the jobs. Elsewhere, or if it does not start, each
job imports for itself. Limits of the system (umask, ulimit, cores) are those at its start.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import IO, Any, NoReturn, Protocol

LOADED = "bell_bench.harness.worker"
"""The module that is imported before any process is forked."""
READY = 120.0
"""How many seconds the imports may take."""
_TICK = 0.02
"""Within how many seconds the end of a job is noticed."""
_PER_JOB = ("BELL_BENCH_", "PYTEST_")
"""Prefixes of variables that may differ from job to job, or test to test; any other variable may
affect a library when it is imported."""
_SAFE = {"PYTHONSAFEPATH": "1"}
"""Nothing is imported from where a process starts: an author may have a ``random.py`` there."""
_PARENT_DEATH_SIGNAL = 1
"""prctl's PR_SET_PDEATHSIG."""


class Process(Protocol):
    """The part of a job's process that the executor needs; ``subprocess.Popen`` has it too."""

    pid: int
    returncode: int | Any

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


def start(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> Process:
    """Start a process that runs ``module``'s ``start(*arguments)`` in its own session. It ends when
    this one ends, in whatever way."""
    environment = {**environment, **_SAFE}
    if sys.platform == "linux":
        with contextlib.suppress(OSError), _lock:
            order = _Order(module, [*arguments], {**environment}, os.getcwd())
            return _forkserver(environment).fork(order, log)
    return start_afresh(module, arguments, environment, log)


def start_afresh(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> Process:
    """Start the same process without the forkserver; it imports for itself."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__, "run", str(os.getpid()), module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**environment, **_SAFE},
        start_new_session=True,
    )


_forkservers: dict[tuple[object, ...], Forkserver] = {}
_refused: set[tuple[object, ...]] = set()
"""Keys for which no forkserver could start; it is not tried again."""
_lock = threading.Lock()


def _forget() -> None:
    """Forget all forkservers: a fork of this process has its own."""
    global _lock
    _lock = threading.Lock()
    _forkservers.clear()


@atexit.register
def _end_all() -> None:
    for each in _forkservers.values():
        each.end()


if sys.platform == "linux":
    os.register_at_fork(after_in_child=_forget)


def _forkserver(environment: Mapping[str, str]) -> Forkserver:
    """Return the forkserver for such jobs, started if need be; end others that have no jobs."""
    same = {k: v for k, v in environment.items() if not k.startswith(_PER_JOB)}
    key = (os.getcwd(), *sorted(same.items()))
    for other, found in list(_forkservers.items()):
        if found.process.poll() is not None or (other != key and found.idle()):
            _forkservers.pop(other).end()
    if key in _refused:
        raise OSError("no forkserver could start before")
    if key not in _forkservers:
        try:
            _forkservers[key] = Forkserver.open(environment)
        except OSError:
            _refused.add(key)
            raise
    return _forkservers[key]


@dataclass(eq=False)
class Child:
    """A job's process, as reported by the forkserver."""

    line: socket.socket
    pid: int
    returncode: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Another thread may also ask for the state of this process, when it starts another job."""

    def poll(self) -> int | None:
        with self.lock, contextlib.suppress(BlockingIOError):
            if self.returncode is None:
                self.returncode = self._hear()
                self.line.close()
        return self.returncode

    def wait(self) -> int:
        while (code := self.poll()) is None:
            time.sleep(_TICK / 10)
        return code

    def _hear(self) -> int:
        try:
            return _number(self.line, socket.MSG_DONTWAIT)
        except ConnectionError:
            return -signal.SIGKILL  # it ended with the forkserver


@dataclass(eq=False)
class Forkserver:
    """The process that has the imports, as seen by the process that runs jobs."""

    process: subprocess.Popen[bytes]
    line: socket.socket
    children: list[Child] = field(default_factory=list)

    @staticmethod
    def open(environment: Mapping[str, str]) -> Forkserver:
        """Start a forkserver, and wait until its imports are done."""
        ours, its = socket.socketpair()
        with its:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    __name__,
                    "serve",
                    str(os.getpid()),
                    LOADED,
                    str(its.fileno()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(environment),
                pass_fds=[its.fileno()],
                start_new_session=True,
            )
        found = Forkserver(process, ours)
        try:
            ours.settimeout(READY)
            _number(ours)
        except BaseException:
            found.end()
            raise
        return found

    def fork(self, order: _Order, log: IO[bytes]) -> Child:
        """Fork a process for an order. An error while it is sent ends only that process."""
        ours, its = socket.socketpair()
        try:
            with its:
                socket.send_fds(self.line, [b"."], [its.fileno(), log.fileno()])
            ours.settimeout(READY)
            child = Child(ours, _number(ours))
            ours.sendall(json.dumps(asdict(order)).encode() + b"\n")
            ours.settimeout(None)
        except BaseException:
            ours.close()
            raise
        self.children = [*self.running(), child]
        return child

    def running(self) -> list[Child]:
        return [child for child in self.children if child.poll() is None]

    def idle(self) -> bool:
        return not self.running()

    def end(self) -> None:
        """End the forkserver, and its jobs if any are left."""
        for child in self.running():
            clear_away(child.pid)
        self.line.close()
        self.process.kill()
        self.process.wait()


@dataclass(frozen=True)
class _Order:
    module: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str

    def set_up(self) -> None:
        """Set the environment, folder and random numbers as in a newly started process."""
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.folder)
        importlib.invalidate_caches()
        for name in ("numpy.random", "torch"):  # no sibling's random numbers
            if module := sys.modules.get(name):
                module.seed()


def serve(line: socket.socket, parent: int) -> socket.socket | None:
    """Fork a process for each request, and report its end. In the forked process, return the socket
    that its order comes by. Return None when nobody can ask any more, after ending all
    processes."""
    jobs: dict[int, socket.socket] = {}
    _tell(line, os.getpid())
    while os.getppid() == parent:
        asked, *_ = select.select([line], [], [], _TICK if jobs else 1.0)
        for pid in list(jobs):  # each by its id: an imported library may have children too
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with jobs.pop(pid) as its:
                    _tell(its, os.waitstatus_to_exitcode(status))
        if asked:
            word, handles, *_ = socket.recv_fds(line, 1, 2)
            if not word:
                break
            its = socket.socket(fileno=handles[0])
            try:
                pid = os.fork()
            except OSError:  # the system has no room for another process now
                its.close()
                os.close(handles[1])
                continue
            if pid == 0:
                for each in (line, *jobs.values()):
                    each.close()
                os.dup2(handles[1], 1)
                os.dup2(handles[1], 2)
                os.close(handles[1])
                return its
            os.close(handles[1])
            jobs[pid] = its
            _tell(its, pid)
    for pid in jobs:
        clear_away(pid)
    return None


def _tell(line: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # the asking process may be gone
        line.sendall(number.to_bytes(4, "big", signed=True))


def _number(line: socket.socket, flags: int = 0) -> int:
    if word := line.recv(4, flags):
        return int.from_bytes(word, "big", signed=True)
    raise ConnectionError("nobody is there any more")


def main(role: str, parent: int, module: str, *arguments: str) -> NoReturn:
    """Run ``python -m bell_bench.forkserver run PARENT MODULE ARGUMENTS`` for one process, or
    ``serve PARENT MODULE SOCKET`` for many, where MODULE is what they import."""
    if role == "serve":
        load_and_serve(parent, module, socket.socket(fileno=int(arguments[0])))
    end_with(parent)
    sys.exit(run(module, arguments))


def load_and_serve(parent: int, module: str, line: socket.socket) -> NoReturn:
    """Import a module and fork processes; in each of them, read its order and run it."""
    own = os.getpid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it is ignored, no process's end is reported
    importlib.import_module(module)
    gc.freeze()  # pages that no collection touches stay shared
    its = serve(line, parent)
    if its is None:
        os._exit(0)  # at once
    os.setsid()
    end_with(own)
    with its:
        order = _Order(**json.loads(its.makefile().readline()))
    order.set_up()
    end_without_teardown(run(order.module, order.arguments))


def run(module: str, arguments: Sequence[str]) -> int:
    """Do the work, in a process of its own."""
    return int(importlib.import_module(module).start(*arguments))


def clear_away(pid: int) -> None:
    """Kill a process that has its own session, if it runs, and all processes left in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def end_with(parent: int) -> None:
    """End this process, and those it has started, when its parent ends in whatever way. On Linux
    the system ends it at once, as a watching thread could not while native code holds Python's
    lock. There the forkserver ends what a job has started."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        clear_away(os.getpid())

    threading.Thread(target=watch, daemon=True).start()


def end_without_teardown(code: int) -> NoReturn:
    """End the process normally, but without finalising its modules: that would copy all memory that
    it shares with the forkserver, in a quarter of a second or more. If Python has moved the two
    functions that this needs, end as any process does."""
    await_threads = getattr(threading, "_shutdown", None)
    run_exit_functions = getattr(atexit, "_run_exitfuncs", None)
    if await_threads is None or run_exit_functions is None:
        sys.exit(code)
    await_threads()
    run_exit_functions()
    for each in (*gc.get_objects(), sys.stdout, sys.stderr):  # get_objects omits frozen ones
        if type(each) in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):
            with contextlib.suppress(OSError, ValueError):  # full, closed
                each.flush()
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
