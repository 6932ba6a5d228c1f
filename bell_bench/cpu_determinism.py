"""Give the same results with and without AVX-512: hold torch's kernels to AVX2.

torch and oneDNN choose among kernels by what the processor can do. Those for AVX-512 add up in
another order than those for AVX2; the last bits differ, and after a thousand updates accuracies
differ too, by a point here and there. Held to AVX2, AMD's processors of both kinds gave the same
bits. (MKL, which multiplies matrices, is left alone: on Intel's processors it chooses by AVX-512,
too.)

If the user sets one of these variables, nothing is changed. Imports nothing heavy.
"""

from __future__ import annotations

import functools
import os
import pathlib

HELD = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
"""Read by torch and by oneDNN when a process first computes something."""


def held() -> dict[str, str]:
    """Return what to add to the environment of a process that trains; nothing without AVX-512."""
    able = any(flag.startswith("avx512") for flag in _flags())
    return dict(HELD) if able and not HELD.keys() & os.environ.keys() else {}


def hold() -> None:
    """Hold this process's kernels to AVX2; it must not have computed anything yet."""
    os.environ.update(held())


@functools.cache
def _flags() -> frozenset[str]:
    """Return the processor's instruction sets, where the system names them: on Linux."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line.split() for line in lines if line.startswith("flags")), ()))
