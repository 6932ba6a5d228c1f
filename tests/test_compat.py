"""torchvision imports beside any build of torch."""

from __future__ import annotations

import subprocess
import sys

import pytest


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torchvision_imports_and_works() -> None:
    said = python(
        "from bell_bench.compat import import_torchvision, needs_shim\n"
        "torchvision = import_torchvision()\n"
        "assert import_torchvision() is torchvision and not needs_shim()\n"
        "import torch\n"
        "from torchvision.transforms import functional\n"
        "print(functional.resize(torch.zeros(1, 8, 8), [4, 4]).shape[-1])\n"
        "from torchvision.datasets import MNIST\n"
    )
    assert said == "4\n"


def test_operators_are_declared_only_where_they_are_missing() -> None:
    python(
        "import torch\n"
        "from bell_bench import compat\n"
        "library = torch.library.Library('torchvision', 'FRAGMENT')\n"
        "library.define('nms' + compat._OPERATORS['nms'])\n"
        "compat.declare_operators()\n"
        "compat.declare_operators()\n"
        "assert len(compat._declared) == 1 and not compat.needs_shim()\n"
    )


def test_without_torchvision_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from bell_bench import compat

    monkeypatch.setattr(compat.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="torchvision is not installed"):
        compat._compiled_operators()


@pytest.mark.slow
def test_avalanche_imports_after_it() -> None:
    said = python(
        "from bell_bench.compat import import_torchvision\n"
        "import_torchvision()\n"
        "from avalanche.training.supervised import EWC\n"
        "print(EWC.__name__)\n"
    )
    assert said == "EWC\n"
