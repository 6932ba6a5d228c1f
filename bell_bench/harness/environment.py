"""The versions, the machine and the commit that a result was made with. Imports nothing heavy."""

from __future__ import annotations

import functools
import os
import pathlib
import platform
import subprocess
from typing import Any

from bell_bench.plugins import installed_version
from bell_bench.records import Environment

PACKAGES = ("bell-bench", "torch", "torchvision", "numpy", "gpytorch", "scikit-learn",
            "avalanche-lib", "safetensors")  # fmt: skip


@functools.cache
def software() -> str:
    """Return the versions that a result depends on; they are part of a job's identity."""
    return ", ".join(f"{name} {installed_version(name)}" for name in ("bell-bench", "torch"))


def processor() -> str:
    """Return the processor's model, if the system names it."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@functools.cache
def commit() -> dict[str, Any] | None:
    """Return the commit of the checkout that bell-bench runs from, and whether files were changed
    since; None outside a checkout. A checkout that merely surrounds an installed package does not
    count."""
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
    """Return the environment that a record stores."""
    return Environment(
        python=platform.python_version(),
        packages={name: installed_version(name) for name in PACKAGES},
        platform=platform.platform(),
        cpu=processor(),
        cores=os.cpu_count(),
        code=commit(),
    )
