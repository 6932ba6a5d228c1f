"""The memory of this process, without what it inherited from the one that started it."""

from __future__ import annotations

import contextlib
import pathlib
import re
import resource
import sys
from collections.abc import Iterator

import psutil

_STATUS = pathlib.Path("/proc/self/status")
_CLEAR = pathlib.Path("/proc/self/clear_refs")


class PeakMemory:
    """The largest resident size of this process since ``restart``, in bytes.

    A part of the work may be measured on its own (``extra``). If a stored result replaces that
    work, its memory is charged (``charge``), so that a stored result never makes a job look
    smaller.
    """

    def __init__(self) -> None:
        self._before = 0
        """The peak until the system's counter was last cleared."""

    def restart(self) -> None:
        """Start measuring anew (on Linux; elsewhere the peak stays that of the whole process)."""
        self._before = 0
        _clear()

    @property
    def bytes(self) -> int:
        return max(self._before, _peak())

    @contextlib.contextmanager
    def extra(self) -> Iterator[list[int]]:
        """Yield a list; at the end, append how far the block went beyond the size at its start."""
        self._before, start = self.bytes, resident()
        _clear()
        found: list[int] = []
        yield found
        found.append(max(0, _peak() - start))

    def charge(self, extra: int) -> None:
        """Count as if so much more memory had been held just now."""
        self._before = max(self._before, resident() + extra)


PEAK = PeakMemory()
"""This process's peak; the system keeps one counter per process."""


def resident() -> int:
    """Return how many bytes of memory this process holds now."""
    return int(psutil.Process().memory_info().rss)


def _clear() -> None:
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")


def _peak() -> int:
    """Return the peak: on Linux VmHWM, which ``_clear`` resets. The figure of getrusage would
    include the size of the process that forked this one."""
    with contextlib.suppress(OSError):
        if match := re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text()):
            return int(match.group(1)) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
