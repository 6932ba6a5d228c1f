"""Plain files, written whole or not at all."""

from __future__ import annotations

import io
import json
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.modular.files import write_whole


def write_json(file: pathlib.Path, content: Any) -> None:
    write_whole(file, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def read_json(file: pathlib.Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def write_arrays(file: pathlib.Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Arrays of numbers as .npz, which is read without pickle."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **dict(arrays))  # type: ignore[arg-type]
    write_whole(file, buffer.getvalue())


def read_arrays(file: pathlib.Path) -> dict[str, NDArray[Any]]:
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
