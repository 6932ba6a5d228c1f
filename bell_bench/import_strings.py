"""Import strings: ``package.module:Name``, or ``file:/path/to/module.py:Name`` for a file."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pathlib
import sys
import types
from typing import Any

from bell_bench.errors import BellBenchError, unknown


def load_object(load: str) -> Any:
    """Return the object that an import string names."""
    source, _, name = load.rpartition(":")
    try:
        if source.startswith("file:"):
            module = _load_file(pathlib.Path(source.removeprefix("file:")))
        else:
            module = importlib.import_module(source)
    except (Exception, SystemExit) as error:
        raise BellBenchError(f"cannot load {load!r}: {one_line(error)}") from error
    try:
        return getattr(module, name)
    except AttributeError:
        names = [known for known in vars(module) if not known.startswith("_")]
        raise BellBenchError(f"cannot load {load!r}: {unknown('name', name, names)}") from None


def is_loaded(file: pathlib.Path) -> bool:
    """Return whether a file, as it is now, is imported in this process."""
    return _module_name(file) in sys.modules


def _module_name(file: pathlib.Path) -> str:
    """Return a module name for a file; it changes when the file does."""
    stamp = f"{file}\0{file.stat().st_mtime_ns}"
    return f"bell_bench_file_{file.stem}_{hashlib.sha256(stamp.encode()).hexdigest()[:8]}"


def _load_file(file: pathlib.Path) -> types.ModuleType:
    """Import a file under a module name of its own."""
    name = _module_name(file)
    if name in sys.modules:
        return sys.modules[name]
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))  # last, so that the file's neighbours hide nothing
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def one_line(error: BaseException) -> str:
    """Return an error as one line of limited length."""
    return clip(f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": "))


def clip(text: str, length: int = 300) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
