"""The folders of images and of prepared arrays."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from bell_bench.errors import BellBenchError, UsageError


def data_folder() -> Path:
    """Return the folder of images: ``BELL_BENCH_DATA``, or the user's data folder."""
    if chosen := _chosen("BELL_BENCH_DATA"):
        return chosen
    return user_data_path("bell-bench")


def cache_folder() -> Path:
    """Return the folder of prepared arrays: ``BELL_BENCH_CACHE``, or the user's cache folder.

    It is safe to delete.
    """
    if chosen := _chosen("BELL_BENCH_CACHE"):
        return chosen
    return user_cache_path("bell-bench")


def _chosen(variable: str) -> Path | None:
    folder = os.environ.get(variable)
    try:
        return Path(folder).expanduser() if folder else None
    except RuntimeError as error:
        raise UsageError(f"{variable}: {folder}: {error}") from None


@contextmanager
def working_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder below ``parent`` in the cache; remove it afterwards unless renamed."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".working-", dir=parent))
    except OSError as error:
        raise cannot_write_cache(parent, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def cannot_write_cache(folder: Path, error: OSError) -> BellBenchError:
    return BellBenchError(
        f"cannot write the cache folder {folder}: {error}. "
        "Set BELL_BENCH_CACHE to a folder with room that you can write to."
    )
