"""Try imports in another process first: one that ends or hangs it does not harm this one."""

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
"""After how many seconds the user is told what is being imported; torch alone needs a few."""
OUTPUT = 16 * 1024**2
"""How many bytes an import may print."""


def try_out(
    load: str,
    items: Sequence[str],
    environment: Mapping[str, str],
    *,
    begin: Callable[..., forkserver.Process] = forkserver.start_afresh,
    patience: float | None = None,
) -> dict[str, str]:
    """Return what is wrong with items, by item; sound items are left out.

    ``load``, named as ``module:function``, is called with an item and returns what is wrong, or
    None. One process tries all items; if an item ends it, another process tries the rest. After
    ``patience`` seconds, the user is told what is being tried.
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
    report = _last_report(output)
    faults: dict[str, str] = report.get("faults", {})
    if report.get("done"):
        return faults
    culprit: str = report.get("trying", items[0])
    rest = [item for item in items if item != culprit]
    others = try_out(load, rest, environment, begin=begin, patience=patience)
    return {culprit: f"loading {culprit} {why}", **others}


def ending(code: int) -> str:
    """Return how a process ended, by its return code."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):  # real-time signals have no name
        return signal.Signals(-code).name
    return f"signal {-code}"


def _over(process: forkserver.Process, log: IO[bytes], patience: float) -> str:
    """Wait until the process ends; if it must be ended, return what it does too much of."""
    began, told = time.monotonic(), False
    while process.poll() is None:
        waited = time.monotonic() - began
        if waited > SECONDS:
            return f"takes over {SECONDS:g} s"
        if waited > patience and not told:
            item = _last_report(os.pread(log.fileno(), OUTPUT, 0)).get("trying", "plugins")
            print(f"loading {item} takes long; it has {SECONDS:g} s", file=sys.stderr, flush=True)
            told = True
        if os.fstat(log.fileno()).st_size > OUTPUT:
            return f"prints over {OUTPUT // 1024**2} MiB"
        time.sleep(0.01)
    return ""


def start(load: str, items: str) -> NoReturn:
    """Try every item, in the other process, and report each before it is tried. An import may
    replace our output stream, or leave a thread that never ends."""
    with os.fdopen(os.dup(1), "w") as log:
        module, _, name = load.partition(":")
        faulty = getattr(importlib.import_module(module), name)
        faults = {}
        for item in json.loads(items):
            _report(log, trying=item)
            if fault := faulty(item):
                faults[item] = fault
        _report(log, done=True, faults=faults)
    os._exit(0)


def _report(log: IO[str], **facts: object) -> None:
    print("\n" + json.dumps({"trial": facts}), file=log, flush=True)


def _last_report(output: bytes) -> dict[str, Any]:
    """Return the last report of a trial; imports may have printed other lines around it."""
    for line in reversed(output.splitlines()):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            found: dict[str, Any] = json.loads(line)["trial"]
            return found
    return {}
