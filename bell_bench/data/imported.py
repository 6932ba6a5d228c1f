"""One's own images: brought in once from an .npz file, checked, kept whole or not at all."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bell_bench.data.arrays import PARTS, Arrays, check
from bell_bench.data.catalogue import COLOUR
from bell_bench.data.folders import data_folder
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.files import write_arrays
from bell_bench.problem import hash_arrays
from bell_bench.specs import check_name

_UNREADABLE = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile)


def imported_path(name: str) -> Path:
    return data_folder() / "imported" / f"{name}.npz"


def imported_names() -> list[str]:
    return sorted(path.stem for path in imported_path("*").parent.glob("[!.]*.npz"))


def import_file(name: str, file: Path, classes: Sequence[int] | None = None) -> Path:
    """Check the arrays in ``file`` and keep them as domain ``name``; returns where.

    Under the name of a colour dataset, they are brought to 32x32 RGB.
    """
    from bell_bench.data.colour import pools

    try:
        check_name("domain", name)
    except ValueError as error:
        raise UsageError(str(error)) from error
    content = _load(file)
    if name in COLOUR:
        arrays = pools.check(content, str(file), name, classes)
    else:
        arrays = check(content, str(file), classes)
    fingerprint = np.array(hash_arrays(arrays[part] for part in PARTS))
    target = imported_path(name)
    try:
        write_arrays(target, {**arrays, "fingerprint": fingerprint})
    except OSError as error:
        raise BellBenchError(
            f"cannot write {target}: {error}. Set BELL_BENCH_DATA to a folder you can write to."
        ) from error
    return target


def read_imported(name: str) -> Arrays:
    """The arrays of an imported domain, checked against the hash taken when they came in."""
    path = imported_path(name)
    again = f"Import it again: `bell-bench data import {name} FILE.npz`."
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {part: content[part] for part in PARTS}
            fingerprint = str(content["fingerprint"])
    except _UNREADABLE as error:
        raise BellBenchError(f"{path} is corrupt: {error}. {again}") from error
    if hash_arrays(arrays.values()) != fingerprint:
        raise BellBenchError(f"{path} is not as it was imported: its hash differs. {again}")
    return arrays


def _load(file: Path) -> Arrays:
    try:
        with np.load(file, allow_pickle=False) as content:
            return {part: content[part] for part in PARTS if part in content}
    except FileNotFoundError:
        raise UsageError(f"no such file: {file}") from None
    except (AttributeError, TypeError, *_UNREADABLE) as error:
        raise UsageError(
            f"{file} is not an .npz file of plain arrays ({type(error).__name__}: {error}); "
            f"make one with np.savez(file, {', '.join(f'{part}=…' for part in PARTS)})"
        ) from error
