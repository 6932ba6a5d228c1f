"""torchvision imports beside any build of torch, and where it cannot, one sentence says why.

The builds that are not installed here are played by packages of a few lines, each in a process of
its own: what is tested ends processes.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

MATCHING = """
import os, torch
if hasattr(torch.ops.torchvision, "nms"):
    os.abort()  # as torch does when a compiled library registers what is declared already
library = torch.library.Library("torchvision", "DEF")
for name in ("nms", "qnms", "roi_align"):
    library.define(name + "(Tensor dets) -> Tensor")
torch.library.register_fake("torchvision::nms")(lambda dets: dets)
"""
"""Registers its operators itself, in a file of whatever name."""
MISMATCHED = """
import torch
from torchvision import extension
for name in ("nms", "qnms"):
    torch.library.register_fake(f"torchvision::{name}")(lambda dets, *rest: dets)
import torchvision
assert torchvision.extension is extension
"""
"""Has loaded no operators, and has a module that a second try must not take for loaded."""
HALF_COMPILED = """
import torch
library = torch.library.Library("torchvision", "FRAGMENT")
library.define("roi_align(Tensor dets) -> Tensor")
torch.library.register_fake("torchvision::nms")(lambda dets: dets)
"""
TOO_OLD = "from torch.library import a_name_that_has_gone"
OTHER_CUDA = 'raise RuntimeError("compiled with different CUDA major versions")'
ABSENT = 'raise ModuleNotFoundError("No module named torchvision", name="torchvision")'

TRY = """
from bell_bench.compat import TorchvisionError, declared_operators, import_torchvision
try:
    import_torchvision()
except TorchvisionError as error:
    print("told:", error)
else:
    assert import_torchvision().__name__ == "torchvision"
    print("imported,", "declared" if declared_operators() else "as it is")
"""


def python(code: str, folder: pathlib.Path | None = None) -> str:
    """What a process of its own prints, with the packages of a folder before all others."""
    first = f"import sys; sys.path.insert(0, {str(folder)!r})\n" if folder else ""
    command = [sys.executable, "-W", "ignore", "-c", first + code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
    return done.stdout


@pytest.fixture
def played(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a package torchvision that is yet to be written."""
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "extension.py").write_text("")
    return tmp_path


def test_the_installed_torchvision_imports_and_works() -> None:
    code = """
import torch
from torchvision.transforms import functional
print(functional.resize(torch.zeros(1, 8, 8), [4, 4]).shape[1:])
"""
    done = python(TRY + code)
    assert done.startswith("imported, "), done
    assert done.endswith("torch.Size([4, 4])\n")


def test_nothing_is_declared_before_torchvision_was_tried(played: pathlib.Path) -> None:
    (played / "torchvision" / "__init__.py").write_text(MATCHING)
    assert python(TRY, played) == "imported, as it is\n"


def test_missing_operators_are_declared_and_the_import_goes_on(played: pathlib.Path) -> None:
    (played / "torchvision" / "__init__.py").write_text(MISMATCHED)
    assert python(TRY, played) == "imported, declared\n"


@pytest.mark.parametrize(
    ("package", "sentence"),
    [
        (ABSENT, "torchvision is not installed: pip install torchvision"),
        (TOO_OLD, "a_name_that_has_gone"),
        (OTHER_CUDA, "RuntimeError: compiled with different CUDA major versions"),
        (HALF_COMPILED, "operator torchvision::nms does not exist"),
        ("import torchvision.nonsense", "No module named 'torchvision.nonsense'"),
    ],
)
def test_what_cannot_be_mended_is_told_in_a_sentence(
    played: pathlib.Path, package: str, sentence: str
) -> None:
    (played / "torchvision" / "__init__.py").write_text(package)
    told = python(TRY, played)
    assert told.startswith("told: ")
    assert told.count("\n") == 1
    assert sentence in told
    assert "pip install" in told


def test_a_process_that_has_half_loaded_it_is_told_to_start_anew(played: pathlib.Path) -> None:
    (played / "torchvision" / "__init__.py").write_text(MISMATCHED)
    before = "try:\n    import torchvision\nexcept Exception:\n    pass\n"
    told = python(before + TRY, played)
    assert told.startswith("told: an earlier import of torchvision has failed halfway")


@pytest.mark.slow
def test_avalanche_imports_after_it_and_nobody_is_asked_for_a_solver() -> None:
    code = """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from bell_bench_avalanche import library
print(library.SupervisedTemplate.__name__, [each for each in told if "solver" in str(each)])
"""
    assert python(TRY + code).endswith("\nSupervisedTemplate []\n")
