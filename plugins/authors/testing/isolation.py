"""Check an algorithm in a process of its own: a call that hangs or ends it becomes a finding."""

from __future__ import annotations

import os
import pathlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from bell_bench import cpu_determinism, forkserver
from bell_bench.files import read_json, write_json
from bell_bench.harness.events import EventReader, EventWriter
from bell_bench.import_check import ending
from bell_bench.import_strings import load_object
from bell_bench.plugins import told_of_plugins
from bell_bench_authors.testing.tiny_job import NO_CALL, Tell

LIMIT = 90.0
"""How many seconds one call may take; on problems so small, most calls take a hundredth of one."""
TICK = 0.02
SHOWN = 10_000
"""How many bytes of the process's output its caller is shown."""
_EVENTS = "events.jsonl"


@dataclass(frozen=True)
class Asked:
    """What is to be checked, and the settings of the process that asks."""

    algorithm: str
    load: str
    """Its import string, known to load: the other process loads it before the checks begin."""
    names: Sequence[str]
    """The names of contracts."""
    runs: str
    threads: int = field(default_factory=torch.get_num_threads)
    path: list[str] = field(default_factory=lambda: list(sys.path))


def teller(runs: pathlib.Path) -> Tell:
    """Return a function that announces every call to the process that waits for this check."""
    tell = EventWriter(runs.parent / _EVENTS)
    return lambda what: tell("calling", what=what)


def look_apart(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the fields of a ``Finding`` for one contract after another."""
    workspace = pathlib.Path(asked.runs).parent
    write_json(workspace / "asked.json", asdict(asked))
    events, log = EventReader(workspace / _EVENTS), workspace / "log.txt"
    with log.open("wb") as stream:
        environment = {**os.environ, **cpu_determinism.held(), **told_of_plugins()}
        process = forkserver.start(__name__, (str(workspace),), environment, stream)
    left, doing, since, ended = list(asked.names), NO_CALL, time.monotonic(), False
    try:
        while left:
            ended = process.poll() is not None
            for event in events:
                since, doing = time.monotonic(), event.get("what", NO_CALL)
                if event["event"] == "found":
                    left.pop(0)
                    yield event["finding"]
            if ended or (doing and time.monotonic() - since > LIMIT):
                break
            time.sleep(TICK)
    finally:
        forkserver.clear_away(process.pid)
        code = process.wait()
        said = _end_of(log)
        sys.stderr.write(said)
    why = f"{doing} had not ended after {LIMIT:g} s"
    if ended:
        last = "".join(said.splitlines()[-1:])
        why = f"{doing or 'it'} ended the process with {ending(code)}{': ' if last else ''}{last}"
    for name in left[:1]:
        yield {"contract": name, "status": "broken", "detail": why}
    for name in left[1:]:
        yield {"contract": name, "status": "not run", "detail": f"{why} (see contract {left[0]})"}


def _end_of(log: pathlib.Path) -> str:
    """Return the end of what was printed, no longer than people read."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - SHOWN))
        return stream.read(SHOWN).decode(errors="replace")


def start(workspace: str) -> int:
    """Check each contract, in the other process; announce every call before it is made."""
    from bell_bench_authors.testing.conformance import look, session_of

    folder = pathlib.Path(workspace)
    asked, tell = Asked(**read_json(folder / "asked.json")), EventWriter(folder / _EVENTS)
    sys.path[:] = asked.path
    torch.set_num_threads(asked.threads)
    load_object(asked.load)
    runs = pathlib.Path(asked.runs)
    for finding in look(session_of(asked.algorithm, runs, teller(runs)), asked.names):
        sys.stdout.flush()  # the next contract may end this process
        tell("found", finding=asdict(finding))
    return 0
