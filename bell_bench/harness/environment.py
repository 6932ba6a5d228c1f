"""What a result was made with: versions, machine, commit. Imports nothing heavy."""

from __future__ import annotations

import functools
import os
import pathlib
import platform
import subprocess
from importlib import metadata
from typing import Any

from bell_bench.records import Environment

PACKAGES = ("bell-bench", "torch", "torchvision", "numpy", "gpytorch", "scikit-learn",
            "avalanche-lib", "safetensors")  # fmt: skip


@functools.cache
def version(package: str) -> str | None:
    """Of an installed distribution; None if it is not."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def software() -> str:
    """The versions that a result depends on; part of a job's identity."""
    return ", ".join(f"{name} {version(name)}" for name in ("bell-bench", "torch"))


def processor() -> str:
    """The processor's model, where the system tells."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@functools.cache
def commit() -> dict[str, Any] | None:
    """The commit of the checkout bell-bench runs from, if it runs from one, and whether it is
    dirty. A checkout that merely surrounds an installed package does not count."""
    root = pathlib.Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20
        ).stdout.strip()

    try:
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None


def environment() -> Environment:
    """As a record keeps it."""
    return Environment(
        python=platform.python_version(),
        packages={name: version(name) for name in PACKAGES},
        platform=platform.platform(),
        cpu=processor(),
        cores=os.cpu_count(),
        code=commit(),
    )
