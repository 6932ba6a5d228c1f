"""Domains prepared once: memory-mapped arrays in the cache folder, checked against their hash."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from bell_bench.data.arrays import Arrays
from bell_bench.data.domain import Domain, pixel_statistics
from bell_bench.errors import BellBenchError
from bell_bench.files import hash_json, read_json, seal, unseal, write_json
from bell_bench.folders import cache_folder, cannot_write_cache, working_folder
from bell_bench.problem import hash_arrays

ARRAYS = (
    "train_images",
    "train_labels",
    "validation_images",
    "validation_labels",
    "test_images",
    "test_labels",
)


def prepared(name: str, key: Mapping[str, object], make: Callable[[], Arrays]) -> Domain:
    """Return the domain stored under ``key``, which holds all that determines it. It is made if
    need be, or if it is not what was written."""
    key = {"name": name, **key}
    readable = re.sub(r"[^\w.+-]", "_", name)
    folder = cache_folder() / "domains" / f"{readable}-{hash_json(key)[:16]}"
    found = _read(folder, name)
    if found is None:
        _write(folder, make(), key)
        found = _read(folder, name)
    if found is None:
        raise BellBenchError(
            f"{folder} does not read back as it was written: the disk may be full or faulty. "
            "Delete the folder, or choose another cache with BELL_BENCH_CACHE."
        )
    return found


def _read(folder: Path, name: str) -> Domain | None:
    """What is stored, or None if it is absent or not what was written."""
    try:
        about = read_json(folder / "about.json")
        if about != seal(unseal(about)):
            return None  # damaged, or of a version that did not seal
        arrays = {
            part: np.load(folder / f"{part}.npy", mmap_mode="r", allow_pickle=False)
            for part in ARRAYS
        }
        fingerprint = hash_arrays(arrays.values())
        found = Domain(
            name=name,
            mean=about["mean"],
            std=about["std"],
            fingerprint=about["fingerprint"],
            **arrays,
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, MemoryError) as error:  # it may be sound: too many open files, or not ours
        raise BellBenchError(f"cannot read the cache folder {folder}: {error}") from error
    except Exception:  # numpy raises whatever parsing a damaged header does, tokenize's errors too
        return None
    return found if found.fingerprint == fingerprint else None


def _write(folder: Path, arrays: Arrays, key: Mapping[str, object]) -> None:
    """Write to a temporary folder and rename it, so that a reader never sees half a domain."""
    mean, std = pixel_statistics(arrays["train_images"])
    fingerprint = hash_arrays(arrays[part] for part in ARRAYS)
    about = {"key": key, "mean": mean, "std": std, "fingerprint": fingerprint}
    with working_folder(folder.parent) as temporary:
        try:
            for part in ARRAYS:
                np.save(temporary / f"{part}.npy", arrays[part], allow_pickle=False)
            write_json(temporary / "about.json", seal(about))
        except OSError as error:
            raise cannot_write_cache(folder.parent, error) from error
        _rename(temporary, folder, str(key["name"]))


def _rename(temporary: Path, folder: Path, name: str) -> None:
    """Put a finished folder in place; a broken one goes, another process's good one stays."""
    for _ in range(2):
        try:
            os.replace(temporary, folder)
            return
        except OSError:
            if _read(folder, name) is not None:
                return
            shutil.rmtree(folder, ignore_errors=True)


def stamp(path: Path) -> list[object]:
    """A file's identity, cheaply: where it is, how long, and when it was written."""
    about = path.stat()
    return [str(path), about.st_size, about.st_mtime_ns]
