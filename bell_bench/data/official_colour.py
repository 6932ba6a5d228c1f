"""Reading the official files of CIFAR, SVHN and DTD. None of these formats can run code."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.data.arrays import Arrays
from bell_bench.data.bounded import LARGEST, LARGEST_LABELS, read_bounded

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 32
Found = list[list[Path]]
"""For each official file, the files on disk that provide it."""

_CIFAR10 = {
    "train": [f"data_batch_{number}.bin" for number in range(1, 6)],
    "test": ["test_batch.bin"],
}
_CIFAR100 = {"train": ["train.bin"], "test": ["test.bin"]}
_DTD = {"train": ["train1.txt", "val1.txt"], "test": ["test1.txt"]}


def read_cifar10(found: Found) -> Arrays:
    """The five batches of training images and that of test images."""
    return _read_cifar(found, _CIFAR10, labels=1)


def read_cifar100(found: Found) -> Arrays:
    """Two labels precede an image, the coarse and the fine; the fine one counts."""
    return _read_cifar(found, _CIFAR100, labels=2)


def _read_cifar(found: Found, files: dict[str, list[str]], labels: int) -> Arrays:
    """The binary version: per image its labels, a byte each, then its red, green and blue plane."""
    contents = {path.name: content for path, content in _contents(found[0], {".bin": LARGEST})}
    arrays: dict[str, NDArray[Any]] = {}
    for split, names in files.items():
        every = np.frombuffer(b"".join(contents[name] for name in names), dtype=np.uint8)
        records = every.reshape(-1, labels + 3 * SIDE * SIDE)
        planes = records[:, labels:].reshape(-1, 3, SIDE, SIDE)
        arrays[f"{split}_images"] = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        arrays[f"{split}_labels"] = records[:, labels - 1].astype(np.int64)
    return arrays


def read_svhn(found: Found) -> Arrays:
    """Matlab's format: X (row, column, channel, image), y from 1, where 10 means the digit 0.

    Nothing bounds what it unpacks to but the MD5, without which these two are never opened.
    """
    from scipy.io import loadmat

    arrays: dict[str, NDArray[Any]] = {}
    for split, (path,) in zip(("train", "test"), found, strict=True):
        content = loadmat(path, variable_names=("X", "y"))
        images = np.asarray(content["X"], dtype=np.uint8).transpose(3, 0, 1, 2)
        arrays[f"{split}_images"] = np.ascontiguousarray(images)
        arrays[f"{split}_labels"] = content["y"].ravel().astype(np.int64) % 10
    return arrays


def read_dtd(found: Found) -> Arrays:
    """Photographs by the first of DTD's ten splits; its training and validation images are one."""
    from PIL import Image

    paths: Iterable[Path] = found[0]
    if len(found[0]) > 1:  # unpacked: the lists were found, and the images are in a folder near
        paths = [*found[0], *sorted((found[0][0].parents[1] / "images").rglob("*.jpg"))]
    lists: dict[str, list[str]] = {}
    pixels: dict[str, NDArray[np.uint8]] = {}
    for path, content in _contents(paths, {".txt": LARGEST_LABELS, ".jpg": LARGEST}):
        if path.suffix == ".txt":
            lists[path.name] = content.decode().split()
        else:
            try:
                with Image.open(io.BytesIO(content)) as photograph:
                    pixels[f"{path.parent.name}/{path.name}"] = from_photograph(photograph)
            except Image.DecompressionBombError as error:
                raise ValueError(f"{path.name}: {error}") from error
    kinds = sorted({image.split("/")[0] for image in lists["train1.txt"]})
    arrays: dict[str, NDArray[Any]] = {}
    for split, names in _DTD.items():
        images = [image for name in names for image in lists[name]]
        arrays[f"{split}_images"] = np.stack([pixels[image] for image in images])
        labels = [kinds.index(image.split("/")[0]) for image in images]
        arrays[f"{split}_labels"] = np.array(labels, dtype=np.int64)
    return arrays


def from_photograph(photograph: Image) -> NDArray[np.uint8]:
    """Return a picture of any size as 32x32 RGB: its short side is resized (PIL's bilinear), its
    centre cropped."""
    from PIL import Image

    width, height = photograph.size
    short = min(width, height)
    size = (SIDE * width // short, SIDE * height // short)
    resized = photograph.convert("RGB").resize(size, Image.Resampling.BILINEAR)
    left, top = (round((length - SIDE) / 2) for length in size)
    return np.asarray(resized.crop((left, top, left + SIDE, top + SIDE)), dtype=np.uint8)


READERS: dict[str, Callable[[Found], Arrays]] = {
    "CIFAR10": read_cifar10,
    "CIFAR100": read_cifar100,
    "SVHN": read_svhn,
    "DTD": read_dtd,
}
"""By the name of the collection."""


def _contents(paths: Iterable[Path], limits: Mapping[str, int]) -> Iterator[tuple[PurePath, bytes]]:
    """Each file with one of the suffixes, and its bytes, at most so many; of an archive, the files
    in it.

    An archive is read once from front to back, as going back in a gzip file means starting over.
    """
    for path in paths:
        if path.suffix in limits:
            with path.open("rb") as file:
                yield path, read_bounded(file, path.name, limits[path.suffix])
        else:
            with tarfile.open(path) as archive:
                for member in archive:
                    name = PurePath(member.name)
                    stream = archive.extractfile(member) if member.isfile() else None
                    if stream is not None and name.suffix in limits:
                        yield name, read_bounded(stream, name.name, limits[name.suffix])
