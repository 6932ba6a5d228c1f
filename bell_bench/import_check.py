"""Imports tried in another process first: what ends or hangs a process costs that one alone."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, NoReturn

from bell_bench import forkserver

SECONDS = 300.0
PATIENCE = 10.0
"""Seconds after which whoever waits is told for what; a few are needed to import torch."""
OUTPUT = 16 * 1024**2
"""Bytes that it may print meanwhile."""


def try_out(
    load: str,
    items: Sequence[str],
    environment: Mapping[str, str],
    *,
    begin: Callable[..., forkserver.Process] = forkserver.start_afresh,
    patience: float | None = None,
) -> dict[str, str]:
    """What is wrong with some of the items, by item.

    ``load``, named as ``module:function``, is called with an item and gives what is wrong, or None:
    in one process for all of them, and in another for the rest when one of them ends it. After
    ``patience`` seconds, whoever waits is told for what.
    """
    if not items:
        return {}
    with tempfile.TemporaryFile() as log:
        process = begin(__name__, (load, json.dumps(list(items))), environment, log)
        try:
            over = _over(process, log, PATIENCE if patience is None else patience)
        finally:
            forkserver.clear_away(process.pid)
        code = process.wait()
        log.seek(0)
        output = log.read()
    why = over or f"ends the process with {ending(code)}"
    told = _told(output)
    faults: dict[str, str] = told.get("faults", {})
    if told.get("done"):
        return faults
    culprit: str = told.get("trying", items[0])
    rest = [item for item in items if item != culprit]
    others = try_out(load, rest, environment, begin=begin, patience=patience)
    return {culprit: f"loading {culprit} {why}", **others}


def ending(code: int) -> str:
    """How a process ended, by its return code."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):  # real-time signals have no name
        return signal.Signals(-code).name
    return f"signal {-code}"


def _over(process: forkserver.Process, log: IO[bytes], patience: float) -> str:
    """Wait for its end; what it does too much of, if it has to be ended."""
    began, told = time.monotonic(), False
    while process.poll() is None:
        waited = time.monotonic() - began
        if waited > SECONDS:
            return f"takes over {SECONDS:g} s"
        if waited > patience and not told:
            item = _told(os.pread(log.fileno(), OUTPUT, 0)).get("trying", "plugins")
            print(f"loading {item} takes long; it has {SECONDS:g} s", file=sys.stderr, flush=True)
            told = True
        if os.fstat(log.fileno()).st_size > OUTPUT:
            return f"prints over {OUTPUT // 1024**2} MiB"
        time.sleep(0.01)
    return ""


def start(load: str, items: str) -> NoReturn:
    """In the other process: try every item, and tell of each before it is tried. What is loaded may
    put another stream in the place of our output, or leave a thread that never ends."""
    with os.fdopen(os.dup(1), "w") as log:
        module, _, name = load.partition(":")
        faulty = getattr(importlib.import_module(module), name)
        faults = {}
        for item in json.loads(items):
            _tell(log, trying=item)
            if fault := faulty(item):
                faults[item] = fault
        _tell(log, done=True, faults=faults)
    os._exit(0)


def _tell(log: IO[str], **facts: object) -> None:
    print("\n" + json.dumps({"trial": facts}), file=log, flush=True)


def _told(output: bytes) -> dict[str, Any]:
    """The last that a trial told, among all that what it loads may have printed."""
    for line in reversed(output.splitlines()):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            found: dict[str, Any] = json.loads(line)["trial"]
            return found
    return {}
