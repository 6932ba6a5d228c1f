"""Algorithms in files of one's own: ``./my_algo.py:MyAlgorithm``."""

from __future__ import annotations

import contextlib
import hashlib
import pathlib
from collections.abc import Mapping

from bell_bench.errors import UsageError
from bell_bench.import_strings import load_object
from bell_bench.provided import Provided
from bell_bench.specs import AlgorithmSpec, Option


def local_algorithm(path: str, name: str) -> Provided[AlgorithmSpec]:
    """The algorithm in a file, with its class's ``options`` and the start of its docstring."""
    file, load = local_file(path, name)
    target = load_object(load)
    if not isinstance(target, type):
        raise UsageError(f"{name} in {file} is no class, but {target!r}")
    options: Mapping[str, Option] = getattr(target, "options", {})
    try:
        spec = AlgorithmSpec(name, load, _first_sentence(target), options=dict(options))
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{name} in {file}: {error}") from error
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return Provided(spec, "file", str(file), f"sha256:{digest[:12]}")


def local_file(path: str, name: str) -> tuple[pathlib.Path, str]:
    """The file, and the import string of what is asked for."""
    file = pathlib.Path(path)
    with contextlib.suppress(RuntimeError, ValueError):  # nobody's home, a loop of links, a NUL
        file = file.expanduser().resolve()
    if not file.is_file():
        raise UsageError(f"no such file: {file} (asked for as {path}:{name})")
    if not name.isidentifier():
        raise UsageError(f"name the class in {file} to use, as {path}:MyAlgorithm")
    return file, f"file:{file}:{name}"


def _first_sentence(target: type) -> str:
    lines = (target.__dict__.get("__doc__") or "").strip().splitlines()
    return lines[0].strip() if lines else "(no docstring)"
