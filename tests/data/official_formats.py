"""Small files in the formats of the official ones, and catalogue entries that expect them."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bell_bench.data.catalogue import Collection
from bell_bench.suites.bell import domains as bell_domains
from bell_bench.suites.ctrl import domains as ctrl_domains

Made = dict[str, NDArray[Any]]


def made_images(classes: range, train: int = 30, test: int = 12) -> Made:
    """Images whose first two pixels tell their label and number."""
    made: Made = {}
    for split, count in (("train", train), ("test", test)):
        labels = np.tile(np.array(classes), count)
        images = np.random.RandomState(count).randint(0, 256, (len(labels), 28, 28))
        images[:, 0, 0], images[:, 0, 1] = labels, np.arange(len(labels)) % 256
        made[f"{split}_images"] = images.astype(np.uint8)
        made[f"{split}_labels"] = labels.astype(np.uint8)
    return made


def idx(array: NDArray[Any]) -> bytes:
    """MNIST's file format."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return header + array.astype(np.uint8).tobytes()


def mnist_files(made: Made) -> dict[str, bytes]:
    content = {
        "train-images-idx3-ubyte": made["train_images"],
        "train-labels-idx1-ubyte": made["train_labels"],
        "t10k-images-idx3-ubyte": made["test_images"],
        "t10k-labels-idx1-ubyte": made["test_labels"],
    }
    packed = {name: gzip.compress(idx(a), 1, mtime=0) for name, a in content.items()}
    return {f"MNIST/raw/{name}.gz": content for name, content in packed.items()}


def emnist_members(made: Made) -> dict[str, bytes]:
    """EMNIST's letters, images transposed as NIST stores them."""
    return {
        f"emnist-letters-{split}-{part}-ubyte": idx(array)
        for split in ("train", "test")
        for part, array in (
            ("images-idx3", made[f"{split}_images"].transpose(0, 2, 1)),
            ("labels-idx1", made[f"{split}_labels"]),
        )
    }


def emnist_files(made: Made) -> dict[str, bytes]:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in emnist_members(made).items():
            archive.writestr(f"gzip/{name}.gz", gzip.compress(content, 1, mtime=0))
    return {"EMNIST/raw/gzip.zip": buffer.getvalue()}


def k49_files(made: Made) -> dict[str, bytes]:
    files = {}
    for split in ("train", "test"):
        for part, name in (("images", "imgs"), ("labels", "labels")):
            buffer = io.BytesIO()
            np.savez_compressed(buffer, made[f"{split}_{part}"])
            files[f"Kuzushiji49/k49-{split}-{name}.npz"] = buffer.getvalue()
    return files


def write(folder: Path, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def expect(
    monkeypatch: pytest.MonkeyPatch,
    collection: Collection,
    files: dict[str, bytes],
    mirrors: tuple[str, ...] = (),
) -> Collection:
    """Have the catalogue expect these files, with their checksums, at these mirrors."""
    official = tuple(
        replace(file, md5=hashlib.md5(files[file.path]).hexdigest()) for file in collection.files
    )
    expecting = replace(collection, files=official, mirrors=mirrors)
    for declared in (bell_domains.DOMAINS, ctrl_domains.DOMAINS):
        for name, domain in declared.items():
            if domain.collection.name == collection.name:
                monkeypatch.setitem(declared, name, replace(domain, collection=expecting))
    return expecting
