"""Whole files or none: written under a temporary name, then renamed. Imports no torch."""

from __future__ import annotations

import contextlib
import hashlib
import json
import pathlib
import uuid
from typing import Any

TEMPORARY = ".writing-"
"""How the names of unfinished files begin; what a killed writer leaves can be told by it."""


def write_whole(file: pathlib.Path, content: bytes) -> None:
    """Write ``content`` so that a reader sees all of it or the file as it was before."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
    try:
        temporary.write_bytes(content)
        temporary.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def hash_json(data: Any) -> str:
    """A hash of JSON-able data that does not depend on the order of keys."""
    return sha256(json.dumps(data, sort_keys=True, allow_nan=False).encode())
