"""Imports tried in another process first: what ends or hangs a process costs that one alone."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

SECONDS = 300.0


def try_out(load: str, items: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with some of the items, by item.

    ``load`` is the source of a function ``load(item)`` that gives what is wrong, or None. It is
    called in one process for all of them, and in another for the rest when one of them ends it.
    """
    if not items:
        return {}
    command = [sys.executable, "-c", f"{load}{_TRIAL}", json.dumps(list(items))]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            env=environment,
        )
        output, why = done.stdout, f"ends the process with {ending(done.returncode)}"
    except subprocess.TimeoutExpired as error:
        output, why = error.stdout or b"", f"takes over {SECONDS:g} s"
    told = _told(output)
    faults: dict[str, str] = told.get("faults", {})
    if told.get("done"):
        return faults
    culprit: str = told.get("trying", items[0])
    rest = [item for item in items if item != culprit]
    return {culprit: f"loading {culprit} {why}", **try_out(load, rest, environment)}


def ending(code: int) -> str:
    """How a process ended, by its return code."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):  # real-time signals have no name
        return signal.Signals(-code).name
    return f"signal {-code}"


_TRIAL = """
import json, sys
def tell(**facts):
    print("\\n" + json.dumps({"trial": facts}), flush=True)
faults = {}
for item in json.loads(sys.argv[1]):
    tell(trying=item)
    if fault := load(item):
        faults[item] = fault
tell(done=True, faults=faults)
"""


def _told(output: bytes) -> dict[str, Any]:
    """The last that a trial told, among all that what it loads may have printed."""
    for line in reversed(output.splitlines()):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            found: dict[str, Any] = json.loads(line)["trial"]
            return found
    return {}
