"""Plain files, written whole or not at all. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import pathlib
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def write_json(file: pathlib.Path, content: Any) -> None:
    write_whole(file, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def read_json(file: pathlib.Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def write_arrays(file: pathlib.Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Arrays of numbers as .npz, which is read without pickle."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez_compressed(buffer, **dict(arrays))  # type: ignore[arg-type]
    write_whole(file, buffer.getvalue())


def read_arrays(file: pathlib.Path) -> dict[str, NDArray[Any]]:
    import numpy as np

    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
