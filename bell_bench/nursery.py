"""Processes without the wait for imports: one that has loaded torch and us forks those for jobs.

A job still has a process, a session, an environment and random numbers of its own; what it shares
with the next one is a process that has imported modules and done nothing else. There is one such
process as long as the one that runs the jobs lives, on Linux; elsewhere, and should it not start,
each job imports for itself.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import IO, Any, NoReturn, Protocol

LOADED = "bell_bench.harness.worker"
"""What it imports before it forks."""
READY = 120.0
"""Seconds until the imports must be done."""
_PER_JOB = ("BELL_BENCH_", "PYTEST_")
"""Variables that may differ from job to job; any other may matter to a library as it loads."""


class Process(Protocol):
    """What the executor needs of a job's process; ``subprocess.Popen`` has it."""

    pid: int
    returncode: int | Any

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


def start(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> Process:
    """A process that runs ``module``'s ``start(parent, *arguments)`` in a session of its own.

    ``parent`` is the process whose end must be its own.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            return _nursery(environment).bear(module, arguments, environment, log)
    return start_afresh(module, arguments, environment, log)


def start_afresh(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> Process:
    """The same, by a process that imports for itself."""
    return subprocess.Popen(
        [sys.executable, "-m", module, str(os.getpid()), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=dict(environment),
        start_new_session=True,
    )


_nurseries: dict[tuple[object, ...], Nursery] = {}
_lock = threading.RLock()


@atexit.register
def _end_all() -> None:
    """At the latest: they would notice by themselves that nobody orders any more."""
    for (owner, *_), each in _nurseries.items():
        if owner == os.getpid():
            each.end()


def _nursery(environment: Mapping[str, str]) -> Nursery:
    """The one that loads what such a job would load; of others, those without jobs end now."""
    same = {k: v for k, v in environment.items() if not k.startswith(_PER_JOB)}
    key = (os.getpid(), *sorted(same.items()))  # a fork of this process has its own
    with _lock:
        for other, found in list(_nurseries.items()):
            idle = other != key and not found.children
            if other[0] == os.getpid() and (found.ended or idle):
                found.end()
                del _nurseries[other]
        if key not in _nurseries:
            _nurseries[key] = Nursery.open(environment)
        return _nurseries[key]


@dataclass(eq=False)
class Child:
    """A job's process, as far as the nursery has told."""

    pid: int
    nursery: Nursery
    returncode: int | None = None

    def poll(self) -> int | None:
        self.nursery.hear(0.0)
        return self.returncode

    def wait(self) -> int:
        while self.returncode is None:
            self.nursery.hear(None)
        return self.returncode


@dataclass(eq=False)
class Nursery:
    """The process with the imports, as seen by the one that runs jobs."""

    process: subprocess.Popen[bytes]
    line: socket.socket
    children: dict[int, Child] = field(default_factory=dict)
    ended: bool = False
    _unread: bytes = b""

    @staticmethod
    def open(environment: Mapping[str, str]) -> Nursery:
        """Start one, and wait until its imports are done."""
        ours, its = socket.socketpair()
        with its:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(its.fileno()), LOADED],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(environment),
                pass_fds=[its.fileno()],
                start_new_session=True,
            )
        found = Nursery(process, ours)
        try:
            found._expect("ready", READY)
        except BaseException:
            found.end()
            raise
        return found

    def bear(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log: IO[bytes],
    ) -> Child:
        order = asdict(_Order(module, [*arguments], {**environment}, os.getcwd()))
        with _lock:
            message = json.dumps(order).encode()
            socket.send_fds(self.line, [len(message).to_bytes(4, "big")], [log.fileno()])
            self.line.sendall(message)
            pid = int(self._expect("born", READY)["born"])
            self.children[pid] = child = Child(pid, self)
            return child

    def hear(self, seconds: float | None) -> list[dict[str, Any]]:
        """Take in what it tells within so many seconds; None: until it tells something."""
        with _lock:
            told: list[dict[str, Any]] = []
            if not self.ended and self._readable(seconds):
                try:
                    heard = self.line.recv(65536)
                except OSError:
                    heard = b""
                if not heard:
                    self.end()
                *lines, self._unread = (self._unread + heard).split(b"\n")
                told = [json.loads(each) for each in lines]
            for each in told:
                if child := self.children.pop(each.get("dead", 0), None):
                    child.returncode = each["code"]
            return told

    def _readable(self, seconds: float | None) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self.line, selectors.EVENT_READ)
            return bool(selector.select(seconds))

    def _expect(self, what: str, seconds: float) -> dict[str, Any]:
        while not self.ended:
            told = self.hear(seconds)
            if not told:
                break
            for each in told:
                if what in each:
                    return each
        self.end()
        raise OSError(f"no word of {what}")

    def end(self) -> None:
        """No more of it. Its jobs, if any are left, have ended with it."""
        self.ended = True
        self.line.close()
        self.process.kill()
        self.process.wait()
        for child in self.children.values():
            child.returncode = -signal.SIGKILL
        self.children.clear()


@dataclass(frozen=True)
class _Order:
    module: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str

    def take_place(self, log: int) -> None:
        """What a process of its own would have had from the start."""
        os.setsid()
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.folder)
        reseed()


def reseed() -> None:
    """Random numbers that no sibling has."""
    for name in ("random", "numpy.random", "torch"):
        if module := sys.modules.get(name):
            module.seed()


def serve(line: socket.socket) -> _Order | None:
    """Fork a process for each order and tell of its end; in that process, return its order. None
    when nobody orders any more."""
    parent = os.getppid()
    _tell(line, ready=True)
    jobs: dict[int, int] = {}
    selector = selectors.DefaultSelector()
    selector.register(line, selectors.EVENT_READ)
    while os.getppid() == parent:
        for key, _ in selector.select(1.0):
            if key.fd in jobs:
                selector.unregister(key.fd)
                os.close(key.fd)
                pid, status = os.waitpid(jobs.pop(key.fd), 0)
                _tell(line, dead=pid, code=os.waitstatus_to_exitcode(status))
                continue
            taken = _take(line)
            if taken is None:
                return None
            order, log = taken
            pid = os.fork()
            if pid == 0:
                for each in (selector, line):
                    each.close()
                for handle in jobs:
                    os.close(handle)
                order.take_place(log)
                return order
            os.close(log)
            handle = os.pidfd_open(pid)
            jobs[handle] = pid
            selector.register(handle, selectors.EVENT_READ)
            _tell(line, born=pid)
    return None


def _take(line: socket.socket) -> tuple[_Order, int] | None:
    """An order and the file its output goes to."""
    head, handles, *_ = socket.recv_fds(line, 4, 1)
    if len(head) < 4 or not handles:
        return None
    size, content = int.from_bytes(head, "big"), b""
    while len(content) < size:
        more = line.recv(size - len(content))
        if not more:
            return None
        content += more
    return _Order(**json.loads(content)), handles[0]


def _tell(line: socket.socket, **facts: object) -> None:
    line.sendall(json.dumps(facts).encode() + b"\n")


def main() -> None:
    """``python -m bell_bench.nursery SOCKET LOADED``."""
    os.close(os.pidfd_open(own := os.getpid()))  # where that fails, this is no place for children
    importlib.import_module(sys.argv[2])
    gc.freeze()  # pages that no collection touches stay shared
    order = serve(socket.socket(fileno=int(sys.argv[1])))
    if order is not None:
        leave(importlib.import_module(order.module).start(own, *order.arguments))


def leave(code: int) -> NoReturn:
    """End as a process does, but without taking down its modules: that would copy all that it
    shares with the one it was forked from, in a quarter of a second or more."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are no daemons
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
