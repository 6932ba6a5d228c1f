"""Reading no more than an official file has: what is larger, packed or not, was made to hurt."""

from __future__ import annotations

from typing import IO

LARGEST = 256 * 1024**2
"""Bytes of one file of images, unpacked: the largest official one, CIFAR-100's, has 154 million."""
LARGEST_LABELS = 4 * 1024**2
"""Bytes of one file of labels or names: each of them takes many times as much in memory."""


def read_bounded(stream: IO[bytes], name: str, limit: int) -> bytes:
    """All that a file has; ValueError as soon as that is more than ``limit`` bytes."""
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{name} has more than {limit:,} bytes, as no official file has")
    return content
