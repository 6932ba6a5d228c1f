"""Observe the side effects of an algorithm: files, network, randomness, devices, training."""

from __future__ import annotations

import array
import collections
import contextlib
import functools
import os
import pathlib
import random
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bell_bench.plugins import Registry
from bell_bench.records import JobFolder

NUMBER = 8
"""How many bytes a number in a list counts for: as many as in an array."""
_FILE_EVENTS = ("open", "os.listdir", "os.scandir", "glob.glob", "os.remove", "os.rename")
_watchers: list[Callable[[str, tuple[Any, ...]], None]] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for watcher in _watchers:
        watcher(event, arguments)


@contextlib.contextmanager
def files_and_network(runs: pathlib.Path, own: tuple[pathlib.Path, ...]) -> Iterator[list[str]]:
    """Collect accesses below ``runs`` but outside ``own``, to files of other jobs, and
    connections."""
    _install_hook()
    found: list[str] = []

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect":
            found.append(f"a network connection to {arguments[1]}")
        elif event in _FILE_EVENTS and isinstance(arguments[0], str | os.PathLike):
            path = pathlib.Path(os.path.abspath(arguments[0]))
            if any(path.is_relative_to(mine) for mine in own):
                return
            if path.is_relative_to(runs):
                found.append(f"{event} {path.relative_to(runs.parent)}")
            elif event == "open" and _of_a_job(path):
                found.append(f"{event} {path}")

    _watchers.append(watch)
    try:
        yield found
    finally:
        _watchers.remove(watch)


def _of_a_job(file: pathlib.Path) -> bool:
    """Return whether a file is a job's record or predictions, or lies in a job's folder."""
    job = JobFolder(file.parent)
    own_names = (job.record_file, job.predictions_file)
    return file in own_names or any(JobFolder(each).job_file.is_file() for each in file.parents)


def _install_hook(installed: list[bool] = []) -> None:  # noqa: B006 (an audit hook cannot be removed)
    if not installed:
        sys.addaudithook(_hook)
        installed.append(True)


@contextlib.contextmanager
def suites_asked_for() -> Iterator[list[str]]:
    """Collect the names of suites that are looked up: later problems could be made from them."""
    found: list[str] = []
    usual = Registry.suite

    def suite(self: Registry, name: str) -> Any:
        found.append(name)
        return usual(self, name)

    with mock.patch.object(Registry, "suite", suite):
        yield found


@contextlib.contextmanager
def devices_asked_for(package: str) -> Iterator[list[str]]:
    """Collect the questions about devices that code of ``package`` itself asks."""
    found: list[str] = []

    def ask(name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
        @_like(usual)
        def asked(*arguments: Any, **more: Any) -> Any:
            if _package(sys._getframe(1)) == package:
                found.append(f"{name}()")
            return usual(*arguments, **more)

        return asked

    with contextlib.ExitStack() as stack:
        for owner, name in (
            (torch.cuda, "is_available"),
            (torch.cuda, "device_count"),
            (torch.backends.mps, "is_available"),
        ):
            label = f"{owner.__name__}.{name}"
            stack.enter_context(mock.patch.object(owner, name, ask(label, getattr(owner, name))))
        yield found


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


@contextlib.contextmanager
def optimiser_steps() -> Iterator[list[int]]:
    """Count the steps of torch's optimisers, whoever makes them, in a list of one number."""
    count = [0]

    def step(*_: Any) -> None:
        count[0] += 1

    handle = register_optimizer_step_post_hook(step)
    try:
        yield count
    finally:
        handle.remove()


@contextlib.contextmanager
def seeds_given(package: str) -> Iterator[list[object]]:
    """Collect the seeds that code of ``package`` itself gives to generators of its own."""
    found: list[object] = []

    def given(seed: object, frame: FrameType) -> None:
        if seed is not None and _package(frame) == package:
            found.append(repr(seed))

    with contextlib.ExitStack() as stack:
        for owner, name, change in (
            (torch, "Generator", _seeded_by_method),
            (np.random, "RandomState", _seeded_when_made),
            (random, "Random", _seeded_when_made),
        ):
            watched = change(getattr(owner, name), given)
            stack.enter_context(mock.patch.object(owner, name, watched))
        usual = np.random.default_rng

        @_like(usual)
        def default_rng(seed: Any = None) -> np.random.Generator:
            given(seed, sys._getframe(1))
            return usual(seed)

        stack.enter_context(mock.patch.object(np.random, "default_rng", default_rng))
        yield found


_Given = Callable[[object, FrameType], None]


def _seeded_when_made(kind: type[Any], given: _Given) -> type[Any]:
    def make(self: Any, seed: Any = None) -> None:
        given(seed, sys._getframe(1))
        kind.__init__(self, seed)

    return _replacement(kind, __init__=make)


def _seeded_by_method(kind: type[Any], given: _Given) -> type[Any]:
    def manual_seed(self: Any, seed: int) -> Any:
        given(seed, sys._getframe(1))
        return kind.manual_seed(self, seed)

    return _replacement(kind, manual_seed=manual_seed)


def _replacement(kind: type[Any], **changes: Any) -> type[Any]:
    """Return a subclass that also answers isinstance for objects of the class itself."""

    class Asked(type(kind)):  # type: ignore[misc]
        def __instancecheck__(cls, thing: object) -> bool:
            return isinstance(thing, kind)

    same = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made: type[Any] = Asked(kind.__name__, (kind,), {**same, "__doc__": kind.__doc__, **changes})
    return made


def _like(usual: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for a function that replaces another. The new function has all attributes
    of the other one, such as a cache's methods and ``__wrapped__``, because libraries use them."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        functools.update_wrapper(function, usual)
        for name in set(dir(usual)) - set(dir(function)) | {"__wrapped__"}:
            setattr(function, name, getattr(usual, name, usual))
        return function

    return decorate


def scramble(seed: int) -> None:
    """Put the process's global random generators into another state."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def global_randomness() -> tuple[Any, ...]:
    """Return the state of the process's global random generators, for comparison."""
    numbers = np.random.get_state(legacy=False)["state"]
    return (
        random.getstate(),
        numbers["key"].tobytes(),
        numbers["pos"],
        torch.get_rng_state().tolist(),
    )


def kept_bytes(root: object, *, without: object) -> int:
    """Return the bytes of all arrays, tensors, byte strings and numbers in collections that can be
    reached from ``root``; shared memory counts once."""
    seen: set[int] = {id(without)}
    sizes: dict[int, int] = {}
    waiting: list[Any] = [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, type | str):
            continue
        seen.add(id(thing))
        if isinstance(thing, torch.Tensor):
            storage = thing.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
        elif isinstance(thing, np.ndarray):
            owner = thing if thing.base is None else thing.base
            sizes[id(owner)] = getattr(owner, "nbytes", thing.nbytes)
        elif isinstance(thing, bytes | bytearray):
            sizes[id(thing)] = len(thing)
        elif isinstance(thing, array.array):
            sizes[id(thing)] = len(thing) * thing.itemsize
        elif isinstance(thing, dict | list | tuple | set | frozenset | collections.deque):
            items = [*thing, *(thing.values() if isinstance(thing, dict) else ())]
            others = [item for item in items if not isinstance(item, int | float)]
            sizes[id(thing)] = NUMBER * (len(items) - len(others))
            waiting += others
        elif hasattr(thing, "__dict__") and (
            isinstance(thing, torch.nn.Module) or not callable(thing)
        ):
            waiting += vars(thing).values()
    return sum(sizes.values())
