"""Processes without the wait for imports: one that has loaded torch and us forks those for jobs.

A job still has a process, a session, an environment and random numbers of its own; what it shares
with the next one is a process that has imported modules and done nothing else. There is one such
process as long as the one that runs the jobs lives, on Linux; elsewhere, and should it not start,
each job imports for itself. Limits of the system (umask, ulimit, cores) are those of when it began.
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
"""What it imports before it forks."""
READY = 120.0
"""Seconds until the imports must be done."""
_TICK = 0.02
"""Seconds within which it notices that a job has ended."""
_PER_JOB = ("BELL_BENCH_", "PYTEST_")
"""Variables that may differ from job to job, or test to test; any other may matter to a library as
it loads."""
_SAFE = {"PYTHONSAFEPATH": "1"}
"""An author's folder may have a ``random.py``: nothing is imported from where a process starts."""
_PARENT_DEATH_SIGNAL = 1
"""Of prctl: PR_SET_PDEATHSIG."""


class Process(Protocol):
    """What the executor needs of a job's process; ``subprocess.Popen`` has it."""

    pid: int
    returncode: int | Any

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


def start(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> Process:
    """A process that runs ``module``'s ``start(*arguments)`` in a session of its own, and ends with
    this one, however this one ends."""
    environment = {**environment, **_SAFE}
    if sys.platform == "linux":
        with contextlib.suppress(OSError), _lock:
            order = _Order(module, [*arguments], {**environment}, os.getcwd())
            return _forkserver(environment).bear(order, log)
    return start_afresh(module, arguments, environment, log)


def start_afresh(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> Process:
    """The same, by a process that imports for itself."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__, "run", str(os.getpid()), module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**environment, **_SAFE},
        start_new_session=True,
    )


_nurseries: dict[tuple[object, ...], Forkserver] = {}
_refused: set[tuple[object, ...]] = set()
"""Where none has started: not tried again."""
_lock = threading.Lock()


def _forget() -> None:
    """A fork of this process has its own."""
    global _lock
    _lock = threading.Lock()
    _nurseries.clear()


@atexit.register
def _end_all() -> None:
    for each in _nurseries.values():
        each.end()


if sys.platform == "linux":
    os.register_at_fork(after_in_child=_forget)


def _forkserver(environment: Mapping[str, str]) -> Forkserver:
    """The one that loads what such a job would load; of others, those without jobs end now."""
    same = {k: v for k, v in environment.items() if not k.startswith(_PER_JOB)}
    key = (os.getcwd(), *sorted(same.items()))
    for other, found in list(_nurseries.items()):
        if found.process.poll() is not None or (other != key and found.idle()):
            _nurseries.pop(other).end()
    if key in _refused:
        raise OSError("none has started before")
    if key not in _nurseries:
        try:
            _nurseries[key] = Forkserver.open(environment)
        except OSError:
            _refused.add(key)
            raise
    return _nurseries[key]


@dataclass(eq=False)
class Child:
    """A job's process, as far as the forkserver has told."""

    line: socket.socket
    pid: int
    returncode: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Who orders another job asks after this one too, maybe from another thread."""

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
            return -signal.SIGKILL  # with the forkserver


@dataclass(eq=False)
class Forkserver:
    """The process with the imports, as seen by the one that runs jobs."""

    process: subprocess.Popen[bytes]
    line: socket.socket
    children: list[Child] = field(default_factory=list)

    @staticmethod
    def open(environment: Mapping[str, str]) -> Forkserver:
        """Start one, and wait until its imports are done."""
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

    def bear(self, order: _Order, log: IO[bytes]) -> Child:
        """What goes wrong before the whole order is given ends the child, and nobody else."""
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
        """No more of it, nor of its jobs, if any are left."""
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

    def take_place(self) -> None:
        """What a process of its own would have had from the start."""
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.folder)
        importlib.invalidate_caches()
        for name in ("numpy.random", "torch"):  # no sibling's random numbers
            if module := sys.modules.get(name):
                module.seed()


def serve(line: socket.socket, parent: int) -> socket.socket | None:
    """Fork a process for each that is asked for, and tell of its end; in that process, return what
    its order comes by. None when nobody asks any more, and all of them are ended."""
    jobs: dict[int, socket.socket] = {}
    _tell(line, os.getpid())
    while os.getppid() == parent:
        asked, *_ = select.select([line], [], [], _TICK if jobs else 1.0)
        for pid in list(jobs):  # each by its number: what was loaded may have children too
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
            except OSError:  # no room for another process just now
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
    with contextlib.suppress(OSError):  # who asked may be gone
        line.sendall(number.to_bytes(4, "big", signed=True))


def _number(line: socket.socket, flags: int = 0) -> int:
    if word := line.recv(4, flags):
        return int.from_bytes(word, "big", signed=True)
    raise ConnectionError("nobody is there any more")


def main(role: str, parent: int, module: str, *arguments: str) -> NoReturn:
    """``python -m bell_bench.forkserver run PARENT MODULE ARGUMENTS``, for one process; for many,
    ``serve PARENT MODULE SOCKET``, where the module is what they need."""
    if role == "serve":
        nurse(parent, module, socket.socket(fileno=int(arguments[0])))
    end_with(parent)
    sys.exit(run(module, arguments))


def nurse(parent: int, module: str, line: socket.socket) -> NoReturn:
    """Load a module and fork processes; in each of them, take its order and carry it out."""
    own = os.getpid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, no end can be told
    importlib.import_module(module)
    gc.freeze()  # pages that no collection touches stay shared
    its = serve(line, parent)
    if its is None:
        os._exit(0)  # at once
    os.setsid()
    end_with(own)
    with its:
        order = _Order(**json.loads(its.makefile().readline()))
    order.take_place()
    leave(run(order.module, order.arguments))


def run(module: str, arguments: Sequence[str]) -> int:
    """The work itself, in a process of its own."""
    return int(importlib.import_module(module).start(*arguments))


def clear_away(pid: int) -> None:
    """End a process with a session of its own, if it runs, and what it has left in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def end_with(parent: int) -> None:
    """End when the process that started this one ends, however it does, and take along what this
    one has started. On Linux the system ends it, and at once, as no thread runs in native code that
    keeps Python's lock; there the forkserver ends what a job has started."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        clear_away(os.getpid())

    threading.Thread(target=watch, daemon=True).start()


def leave(code: int) -> NoReturn:
    """End as a process does, but without taking down its modules: that would copy all that it
    shares with the one it was forked from, in a quarter of a second or more. Where Python has moved
    the two functions that it ends by, it ends as any process."""
    await_threads = getattr(threading, "_shutdown", None)
    run_exit_functions = getattr(atexit, "_run_exitfuncs", None)
    if await_threads is None or run_exit_functions is None:
        sys.exit(code)
    await_threads()
    run_exit_functions()
    for each in (*gc.get_objects(), sys.stdout, sys.stderr):  # frozen ones are not among the first
        if type(each) in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):
            with contextlib.suppress(OSError, ValueError):  # full, closed
                each.flush()
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
