"""Read predictions from strangers: one-dimensional arrays of small integers, nothing else."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.records.packed.archive import MIB, Archive, ArchiveLimits
from bell_bench.records.packed.refused import Refused, shown

PREDICTIONS = ArchiveLimits(archive=16 * MIB, files=2000, each=8 * MIB, total=64 * MIB)
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '(\|u1|<i8)', 'fortran_order': False, 'shape': \((\d{1,9}),\), \} *\n"
)
"""The header that numpy writes for the arrays that bell-bench makes. It is matched whole and never
evaluated, so a hostile header can do nothing."""

Arrays = dict[str, NDArray[Any]]


def read_predictions(content: bytes) -> Arrays:
    """Return every array by name; sizes are checked before anything is allocated."""
    archive = Archive(content, PREDICTIONS)
    arrays: Arrays = {}
    for name in archive.names:
        if not name.endswith(".npy"):
            raise Refused(f"{name} is not an array")
        try:
            arrays[name.removesuffix(".npy")] = _read_array(archive.read(name))
        except Refused as error:
            raise Refused(f"{name}: {error}") from error
    return arrays


def _read_array(content: bytes) -> NDArray[Any]:
    start = len(_MAGIC) + 2
    end = start + int.from_bytes(content[len(_MAGIC) : start], "little")
    header = content[start:end]
    if not content.startswith(_MAGIC) or len(header) != end - start:
        raise Refused("it is not an array in numpy's format 1.0")
    match = _HEADER.fullmatch(header)
    if match is None:
        told = shown(header.decode("latin-1").strip())
        raise Refused(f"only arrays of type |u1 or <i8 with one dimension are read, not {told}")
    kind, length = np.dtype(match[1].decode()), int(match[2])
    if length * kind.itemsize != len(content) - end:
        raise Refused(f"{length:,} numbers were announced, {len(content) - end:,} bytes follow")
    return np.frombuffer(content, kind, offset=end)
