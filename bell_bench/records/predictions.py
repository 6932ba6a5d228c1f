"""Recompute accuracies from a job's stored predictions, in a fraction of a millisecond.

A thousand runs are some 40,000 small arrays, and numpy and zipfile spend most of their time on
headers that are all alike. This module reads the same files, a zip of .npy members without pickle,
several times as fast, so that every table can recompute what it shows (benchmarks/leaderboard.py).
Members with equal bytes are unpacked and scored once; an algorithm that does not forget has many.
"""

from __future__ import annotations

import functools
import io
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGEST = 256 * 1024**2
"""How many bytes all arrays of a job may have; predictions of ours are never larger."""
_END = struct.Struct("<4s4H2LH")
"""The end of a zip: signature, disks, entries here and in all, directory's size and place."""
_ENTRY = struct.Struct("<4s6H3L5H2L")
"""An entry of its directory: signature, versions, flags, method, time, date, checksum, sizes,
lengths of name, extra and comment, disk, attributes, place of the member."""
_LOCAL_HEADER = 30
_STORED, _DEFLATED = 0, 8
_PREDICTION = re.compile(rb"(labels|learnt|final|after_\d+)_\d+\.npy")

Predictions = Mapping[str, NDArray[Any]]


class _Member(NamedTuple):
    name: str
    method: int
    checksum: int
    packed: int
    size: int
    place: int


def read_predictions(content: bytes, *, matrix: bool = False) -> Predictions:
    """Return labels and predictions by name, those of the accuracy matrix only if asked for.
    Members of equal bytes are one array.

    Raise ValueError if the content is damaged or not what the harness writes.
    """
    try:
        members = [
            member for member in _members(content) if matrix or not member.name.startswith("after_")
        ]
        if (size := sum(member.size for member in members)) > LARGEST:
            raise ValueError(f"it unpacks to {size:,} bytes, over {LARGEST:,}")
        if sum(member.packed for member in members) > len(content):
            raise ValueError("damaged: its members overlap")  # each would be kept, whole
        known: dict[tuple[object, ...], NDArray[Any]] = {}
        found = {}
        for member in members:
            raw = _packed(content, member)
            key = raw, member.method, member.checksum, member.size
            if key not in known:
                known[key] = _array(_unpacked(raw, member))
            found[member.name.removesuffix(".npy")] = known[key]
        return found
    except (zlib.error, struct.error) as error:
        raise ValueError(f"damaged: {error}") from error


def _members(content: bytes) -> Iterator[_Member]:
    """Yield the predictions in the zip's directory, which is at its end."""
    signature, *_, count, _, at, comment = _END.unpack(content[-_END.size :])
    if signature != b"PK\x05\x06" or comment:
        raise ValueError("damaged: it does not end as an .npz does")
    for _ in range(count):
        (signature, _, _, flags, method, _, _, checksum, packed, size, name_size, extra, note, *_,
         place) = _ENTRY.unpack_from(content, at)  # fmt: skip
        at += _ENTRY.size
        name = content[at : at + name_size]
        at += name_size + extra + note
        if signature != b"PK\x01\x02" or flags & 1:
            raise ValueError("damaged: its directory is not that of an .npz")
        if _PREDICTION.fullmatch(name):
            yield _Member(name.decode(), method, checksum, packed, size, place)


def _packed(content: bytes, member: _Member) -> bytes:
    name, extra = struct.unpack_from("<HH", content, member.place + 26)
    start = member.place + _LOCAL_HEADER + name + extra
    return content[start : start + member.packed]


def _unpacked(raw: bytes, member: _Member) -> bytes:
    """Return a member's bytes; raise ValueError unless length and checksum are as promised."""
    if member.method == _DEFLATED:
        raw = zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, member.size + 1)
    elif member.method != _STORED:
        raise ValueError(f"{member.name} is compressed in an unknown way")
    if len(raw) != member.size or zlib.crc32(raw) != member.checksum:
        raise ValueError(f"{member.name} does not have the promised length and checksum")
    return raw


def _array(raw: bytes) -> NDArray[Any]:
    (length,) = struct.unpack_from("<H", raw, 8)
    shape, kind = _header(raw[: 10 + length])
    return np.frombuffer(raw, kind, offset=10 + length).reshape(shape)


@functools.lru_cache(maxsize=256)
def _header(raw: bytes) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of an array of whole numbers; most headers of a run are equal."""
    stream = io.BytesIO(raw)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array of an unknown version")
    shape, _, kind = np.lib.format.read_array_header_1_0(stream)
    if kind.kind not in "ui" or len(shape) != 1:
        raise ValueError(f"predictions are whole numbers in a row, not {kind} of shape {shape}")
    return shape, kind


def accuracy(found: Predictions, name: str, index: int) -> float:
    """Return the share of problem ``index``'s test labels that the named predictions match."""
    labels, predicted = found[f"labels_{index}"], found[name]
    if not len(labels) or len(labels) != len(predicted):
        raise ValueError(f"{name} has {len(predicted)} predictions for {len(labels)} labels")
    return int(np.count_nonzero(predicted == labels)) / len(labels)
