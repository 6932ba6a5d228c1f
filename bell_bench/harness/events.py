"""The events of a running worker: one JSON object per line, appended to a file.

The channel is a file, not a pipe: it outlives either side, and works between processes that share
no parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any


class EventWriter:
    """Appends events. A full disk or a missing folder harms the display only, not the job."""

    def __init__(self, file: pathlib.Path) -> None:
        self._file = file

    def __call__(self, event: str, **facts: Any) -> None:
        line = json.dumps({"event": event, "process": os.getpid(), **facts})
        with contextlib.suppress(OSError), self._file.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")


class EventReader:
    """Reads the events appended since the last call."""

    def __init__(self, file: pathlib.Path) -> None:
        self._file = file
        self._offset = file.stat().st_size if file.exists() else 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            with self._file.open("rb") as stream:
                stream.seek(self._offset)
                content = stream.read()
        except OSError:  # a job may damage its folder, but must not end the run
            return
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict) and "event" in event:
                    yield event
