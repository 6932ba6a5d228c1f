"""A process's own memory: never what it inherited from the one that started it."""

from __future__ import annotations

import contextlib
import pathlib
import re
import resource
import sys

_STATUS = pathlib.Path("/proc/self/status")
_CLEAR = pathlib.Path("/proc/self/clear_refs")


def reset_peak() -> None:
    """Start measuring the peak anew (Linux; elsewhere the peak stays that of the whole job)."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")


def peak_bytes() -> int:
    """The largest resident size since ``reset_peak``.

    On Linux this is VmHWM, which starts at zero with the program; getrusage's figure would carry
    over the size of the process that forked it.
    """
    with contextlib.suppress(OSError):
        if match := re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text()):
            return int(match.group(1)) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
