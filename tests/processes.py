"""The processes of a run, as the system shows them."""

from __future__ import annotations

import contextlib

import psutil


def forkservers_of(run: psutil.Process) -> list[psutil.Process]:
    """The processes that a run has for starting jobs from."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [each for each in run.children() if _is_forkserver(each)]
    return []


def workers_of(run: psutil.Process) -> list[psutil.Process]:
    """The processes of a run's jobs."""
    found = []
    for forkserver in forkservers_of(run):
        with contextlib.suppress(psutil.NoSuchProcess):
            found += forkserver.children()
    return found


def _is_forkserver(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()[2:4] == ["bell_bench.forkserver", "serve"]
    return False
