"""Work with the builds that package indexes provide."""

from __future__ import annotations

import importlib
import re
import sys
import types
from importlib import metadata
from typing import Any

from bell_bench.errors import BellBenchError
from bell_bench.import_strings import one_line

_OPERATORS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
"""Operators whose fake versions torchvision registers at import, compiled or not."""
_COMPILED = "roi_align"
"""An operator that only torchvision's own library registers."""

_declared: list[Any] = []
"""Libraries of declared operators; a declaration lasts only as long as its library."""


class TorchvisionError(BellBenchError):
    """torchvision is absent or cannot be imported; the message says what to do."""


def import_torchvision() -> types.ModuleType:
    """Import torchvision, even if its compiled operators do not fit the installed torch.

    A CPU build of torch beside the index's CUDA build of torchvision is common. torchvision then
    cannot load its compiled operators and would work without them, but its import still registers
    fake versions of two of them and stops at "operator torchvision::nms does not exist". It is
    enough to declare these two, without an implementation: data sets, transforms and models work,
    and the operators themselves report that they are absent, as torchvision intends.

    The import is always tried unchanged first: an operator that is declared before torchvision
    registers it ends the process. Call this before importing a library that imports torchvision
    (avalanche, torchmetrics).
    """
    before = _modules()
    try:
        return importlib.import_module("torchvision")
    except Exception as error:
        if not _lacks_operators(error) or before or _compiled():
            raise _error(error, before) from error
    for name in _modules():  # modules that the first try left behind
        del sys.modules[name]
    _declare()
    try:
        return importlib.import_module("torchvision")
    except Exception as error:
        raise _error(error, []) from error


def declared_operators() -> bool:
    """Return whether torchvision was imported in this process with operators that we declared."""
    return bool(_declared)


def _modules() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "torchvision"]


def _lacks_operators(error: Exception) -> bool:
    found = re.search(r"operator torchvision::(\w+) does not exist", str(error))
    return found is not None and found[1] in _OPERATORS


def _compiled() -> bool:
    """Return whether torchvision's own library is loaded; any fault is then a different one."""
    return _exists(_COMPILED)


def _declare() -> None:
    """Declare the operators that do not exist, so that torchvision's import can go on."""
    import torch

    library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
    for name, schema in _OPERATORS.items():
        if not _exists(name):
            library.define(name + schema)  # type: ignore[no-untyped-call]
    _declared.append(library)


def _exists(operator: str) -> bool:
    import torch

    return hasattr(torch.ops.torchvision, operator)


def _error(error: Exception, before: list[str]) -> TorchvisionError:
    """Return an error that says in a sentence what is wrong with torchvision, and what to do."""
    missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    if missing == "torchvision":
        return TorchvisionError("torchvision is not installed: pip install torchvision")
    if before and "torchvision" not in before:
        return TorchvisionError(
            "an earlier import of torchvision has failed halfway in this process "
            f"({one_line(error)}): start a new process, and let bell-bench import it first"
        )
    versions = " beside ".join(f"{name} {_version(name)}" for name in ("torchvision", "torch"))
    return TorchvisionError(
        f"{versions} cannot be imported ({one_line(error)}): install a pair of matching versions, "
        "pip install --upgrade torch torchvision"
    )


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "of unknown version"
