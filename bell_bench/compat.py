"""What it takes to live with the builds that package indexes hand out."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import pathlib
import types
from typing import Any

_OPERATORS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
"""The operators whose fake versions torchvision registers at import, compiled or not."""

_declared: list[Any] = []
"""Libraries of declared operators; a declaration lives only as long as its library."""


def import_torchvision() -> types.ModuleType:
    """Import torchvision, also when its compiled operators do not fit the installed torch.

    A CPU build of torch beside the index's CUDA build of torchvision is common. torchvision then
    cannot load its compiled operators and would do without, but its import still registers fake
    versions of two of them and stops at "operator torchvision::nms does not exist". Declaring
    these two, without an implementation, is all that is missing: data sets, transforms and models
    work, and the operators themselves say that they are absent, as torchvision means them to.

    Call this before importing whatever imports torchvision (avalanche, torchmetrics). Where the
    builds match, it is a plain import.
    """
    if needs_shim():
        declare_operators()
    return importlib.import_module("torchvision")


def needs_shim() -> bool:
    """Whether torchvision's compiled operators are missing in this process and cannot be loaded."""
    import torch

    if all(_exists(name) for name in _OPERATORS):
        return False
    library = _compiled_operators()
    if library is None:
        return True
    try:
        torch.ops.load_library(library)  # type: ignore[no-untyped-call]
    except (ImportError, OSError):
        return True
    return not all(_exists(name) for name in _OPERATORS)


def declare_operators() -> None:
    """Declare torchvision's operators that do not exist, so that its import can go on."""
    import torch

    missing = {name: schema for name, schema in _OPERATORS.items() if not _exists(name)}
    if missing:
        library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
        for name, schema in missing.items():
            library.define(name + schema)  # type: ignore[no-untyped-call]
        _declared.append(library)


def _exists(operator: str) -> bool:
    import torch

    return hasattr(torch.ops.torchvision, operator)


def _compiled_operators() -> str | None:
    """The file of torchvision's compiled operators, found without importing torchvision."""
    package = importlib.util.find_spec("torchvision")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("torchvision is not installed", name="torchvision")
    folder = str(pathlib.Path(package.origin).parent)
    loader = (
        importlib.machinery.ExtensionFileLoader,
        importlib.machinery.EXTENSION_SUFFIXES,
    )
    spec = importlib.machinery.FileFinder(folder, loader).find_spec("_C")
    return None if spec is None else spec.origin
