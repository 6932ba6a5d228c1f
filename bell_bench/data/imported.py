"""One's own images: brought in once from an .npz file, checked, kept whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from bell_bench.data.arrays import PARTS, Arrays
from bell_bench.data.cut import check
from bell_bench.data.declared import cut_of_imports, official_domains
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.files import read_arrays, write_arrays
from bell_bench.folders import data_folder
from bell_bench.problem import hash_arrays
from bell_bench.specs import check_name


def imported_path(name: str) -> Path:
    return data_folder() / "imported" / f"{name}.npz"


def imported_names() -> list[str]:
    return sorted(path.stem for path in imported_path("*").parent.glob("[!.]*.npz"))


def imported_among(domains: Iterable[str]) -> dict[str, str]:
    """Of these domains, the ones that are imported, each with a hash of its images. Cheap."""
    found = (name for name in domains if imported_path(name).is_file())
    return {name: str(_stored(name, ("fingerprint",))["fingerprint"])[:16] for name in found}


def import_file(name: str, file: Path, classes: Sequence[int] | None = None) -> Path:
    """Check the arrays in ``file`` and keep them as domain ``name``, in the shape that it has;
    return where they are kept."""
    try:
        check_name("domain", name)
    except ValueError as error:
        raise UsageError(str(error)) from error
    content = _load(file)
    if declared := official_domains().get(name):
        arrays = check(content, str(file), declared.cut, classes, name)
    else:
        arrays = check(content, str(file), cut_of_imports(), classes)
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
    content = _stored(name, (*PARTS, "fingerprint"))
    arrays = {part: content[part] for part in PARTS}
    if hash_arrays(arrays.values()) != str(content["fingerprint"]):
        raise BellBenchError(f"{imported_path(name)} is not as it was imported: its hash differs. "
                             f"{_again(name)}")  # fmt: skip
    return arrays


def imported_classes(name: str) -> int | None:
    """Return how many classes an imported domain has; None if it is not imported. Cheap."""
    if not imported_path(name).is_file():
        return None
    return int(_stored(name, ("train_labels",))["train_labels"].max()) + 1


def _stored(name: str, parts: Sequence[str]) -> Arrays:
    path = imported_path(name)
    try:
        content = read_arrays(path, parts)
        if lacking := [part for part in parts if part not in content]:
            raise ValueError(f"it lacks {', '.join(lacking)}")
    except (OSError, ValueError) as error:
        raise BellBenchError(f"{path} is corrupt: {error}. {_again(name)}") from error
    return content


def _again(name: str) -> str:
    return f"Import it again: `bell-bench data import {name} FILE.npz`."


def _load(file: Path) -> Arrays:
    try:
        return read_arrays(file, PARTS)
    except FileNotFoundError:
        raise UsageError(f"no such file: {file}") from None
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{file} is not an .npz file of plain arrays ({error}); "
            f"make one with np.savez(file, {', '.join(f'{part}=…' for part in PARTS)})"
        ) from error
