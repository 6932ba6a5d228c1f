"""Small files in the formats of CIFAR, SVHN and DTD."""

from __future__ import annotations

import io
import tarfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

Made = dict[str, NDArray[Any]]


def made_colours(classes: int, train: int = 12, test: int = 6) -> Made:
    """Images whose first pixel tells their label and number."""
    made: Made = {}
    for split, count in (("train", train), ("test", test)):
        labels = np.tile(np.arange(classes), count)
        images = np.random.RandomState(count).randint(0, 256, (len(labels), 32, 32, 3))
        images[:, 0, 0, 0] = labels
        images[:, 0, 0, 1], images[:, 0, 0, 2] = divmod(np.arange(len(labels)), 256)
        made[f"{split}_images"] = images.astype(np.uint8)
        made[f"{split}_labels"] = labels
    return made


def archive(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as packed:
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            packed.addfile(about, io.BytesIO(content))
    return buffer.getvalue()


def _records(images: NDArray[Any], *labels: NDArray[Any]) -> bytes:
    """CIFAR's binary version: label bytes, then the three planes."""
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    columns = [each.astype(np.uint8)[:, None] for each in labels]
    return np.concatenate([*columns, planes], axis=1).tobytes()


def cifar10_members(made: Made) -> dict[str, bytes]:
    images, labels = (np.array_split(made[f"train_{part}"], 5) for part in ("images", "labels"))
    members = {
        f"cifar-10-batches-bin/data_batch_{batch + 1}.bin": _records(images[batch], labels[batch])
        for batch in range(5)
    }
    members["cifar-10-batches-bin/test_batch.bin"] = _records(
        made["test_images"], made["test_labels"]
    )
    return {"cifar-10-batches-bin/batches.meta.txt": b"airplane\n", **members}


def cifar100_members(made: Made) -> dict[str, bytes]:
    return {
        f"cifar-100-binary/{split}.bin": _records(
            made[f"{split}_images"], made[f"{split}_labels"] // 5, made[f"{split}_labels"]
        )
        for split in ("train", "test")
    }


def svhn_files(made: Made) -> dict[str, bytes]:
    """Matlab files; the digit 0 has the label 10."""
    from scipy.io import savemat

    files = {}
    for split in ("train", "test"):
        buffer = io.BytesIO()
        labels = np.where(made[f"{split}_labels"] == 0, 10, made[f"{split}_labels"])
        images = made[f"{split}_images"].transpose(1, 2, 3, 0)
        savemat(buffer, {"X": images, "y": labels[:, None].astype(np.uint8)})
        files[f"{split}_32x32.mat"] = buffer.getvalue()
    return files


DTD_KINDS = [f"kind_{letter}" for letter in "lkjihgfedcba"]


def dtd_members(train: int = 5, val: int = 5, test: int = 5) -> dict[str, bytes]:
    """Photographs of twelve kinds, each of one grey: 20 times its kind's place in the alphabet."""
    from PIL import Image

    members: dict[str, bytes] = {}
    lists: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    for kind in DTD_KINDS:
        grey = 20 * sorted(DTD_KINDS).index(kind)
        buffer = io.BytesIO()
        Image.new("RGB", (50, 40), (grey, grey, grey)).save(buffer, "JPEG")
        for split, count in (("train", train), ("val", val), ("test", test)):
            for number in range(count):
                path = f"{kind}/{kind}_{split}{number}.jpg"
                members[f"dtd/images/{path}"] = buffer.getvalue()
                lists[split].append(path)
    for split, paths in lists.items():
        members[f"dtd/labels/{split}1.txt"] = "\n".join(paths).encode() + b"\n"
        members[f"dtd/labels/{split}2.txt"] = b"other/split.jpg\n"
    return {**members, "dtd/imdb/imdb.mat": b"not read"}
