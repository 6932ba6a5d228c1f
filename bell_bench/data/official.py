"""Reading official files: here those of MNIST's family and of Kuzushiji-49."""

from __future__ import annotations

import gzip
import hashlib
import math
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np

from bell_bench.data.arrays import PARTS, Arrays
from bell_bench.data.bounded import LARGEST, LARGEST_LABELS, read_bounded
from bell_bench.data.catalogue import Collection, OfficialFile
from bell_bench.data.official_colour import READERS
from bell_bench.errors import BellBenchError
from bell_bench.files import read_arrays
from bell_bench.folders import data_folder

Found = list[tuple[OfficialFile, list[Path]]]
"""Each official file with the files on disk that provide it."""

UNSIGNED_BYTES = 8
"""The code of their type in an idx file's header."""

_BROKEN = (OSError, EOFError, ValueError, KeyError, TypeError, AssertionError, RuntimeError,
           zlib.error, zipfile.BadZipFile, tarfile.TarError)  # fmt: skip
"""What readers raise when a file is truncated or not what its name says."""


def on_disk(file: OfficialFile) -> list[Path]:
    """The files that provide this one: itself, or what it unpacks to; empty if incomplete."""
    folder = data_folder()
    packed = folder / file.path
    if packed.is_file():
        return [packed]
    found = []
    for member in file.unpacked:
        either = [path for path in (folder / member, folder / f"{member}.gz") if path.is_file()]
        found += either[:1]
    return found if file.unpacked and len(found) == len(file.unpacked) else []


def check_md5(path: Path, file: OfficialFile) -> None:
    """Raise an error that names the file if it is not the official one, bit for bit."""
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    if digest.hexdigest() != file.md5:
        raise BellBenchError(
            f"{path} is corrupt or incomplete: its MD5 is {digest.hexdigest()}, the official "
            f"file's is {file.md5}. `bell-bench data download` fetches it anew."
        )


def read(collection: Collection) -> Arrays:
    """All images of a collection, upright, with the labels its publisher gave them."""
    paths = [(file, on_disk(file)) for file in collection.files]
    for file, found in paths:
        if found == [data_folder() / file.path]:
            check_md5(found[0], file)
    try:
        if collection.name in READERS:
            return READERS[collection.name]([found for _, found in paths])
        if collection.name == "Kuzushiji49":
            return _read_k49(paths)
        return _read_idx(collection, paths)
    except _BROKEN as error:
        folder = data_folder() / PurePosixPath(collection.files[0].path).parent
        raise BellBenchError(
            f"cannot read {collection.title} in {folder}: {type(error).__name__}: {error}. "
            "Delete its files and run `bell-bench data download`."
        ) from error


def _read_k49(paths: Found) -> Arrays:
    """Kuzushiji-49: four files, in the order of our parts, each with one array ``arr_0``."""
    arrays = {}
    for part, (_, found) in zip(PARTS, paths, strict=True):
        arrays[part] = read_arrays(found[0])["arr_0"]
    return arrays


def _read_idx(collection: Collection, paths: Found) -> Arrays:
    """MNIST's file format: images and labels of the training set, then of the test set."""
    members = [
        (member, found[min(index, len(found) - 1)])
        for file, found in paths
        for index, member in enumerate(file.unpacked)
    ]
    arrays = {}
    for part, (member, source) in zip(PARTS, members, strict=True):
        name = PurePosixPath(member).name
        labels = part.endswith("labels")
        with _open(source, name) as stream:
            content = read_bounded(stream, name, LARGEST_LABELS if labels else LARGEST)
        arrays[part] = read_idx(content, name, dimensions=1 if labels else 3)
        if labels:
            arrays[part] = arrays[part].astype(np.int64)
        elif collection.name == "EMNIST":  # which stores its images transposed
            arrays[part] = np.ascontiguousarray(arrays[part].transpose(0, 2, 1))
    return arrays


def read_idx(content: bytes, name: str, dimensions: int) -> np.ndarray:
    """The bytes of an idx file as an array: a header that tells its shape, and one byte a value."""
    header = 4 + 4 * dimensions
    if content[:4] != bytes([0, 0, UNSIGNED_BYTES, dimensions]) or len(content) < header:
        raise ValueError(f"{name} is no idx file of bytes in {dimensions} dimensions")
    shape: list[int] = np.frombuffer(content, ">u4", dimensions, offset=4).tolist()
    if len(content) - header != math.prod(shape):
        raise ValueError(f"{name} has {len(content) - header:,} values, its header says {shape}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


@contextmanager
def _open(source: Path, member: str) -> Iterator[IO[bytes]]:
    """The plain bytes of a member, whether its source is a zip of gzips, a gzip or itself."""
    if source.suffix == ".zip":
        with zipfile.ZipFile(source) as archive, archive.open(f"gzip/{member}.gz") as packed:
            with gzip.open(packed) as stream:
                yield stream  # type: ignore[misc]
    elif source.suffix == ".gz":
        with gzip.open(source) as stream:
            yield stream  # type: ignore[misc]
    else:
        with source.open("rb") as stream:
            yield stream
