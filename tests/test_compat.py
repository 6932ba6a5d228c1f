"""torchvision imports beside any build of torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bell_bench import compat


def test_torchvision_imports_and_works() -> None:
    torchvision = compat.import_torchvision()
    assert compat.import_torchvision() is torchvision
    import torch
    from torchvision.datasets import MNIST
    from torchvision.transforms import functional

    assert issubclass(MNIST, torch.utils.data.Dataset)
    assert functional.resize(torch.zeros(1, 8, 8), [4, 4]).shape == (1, 4, 4)


def test_operators_are_declared_only_where_they_are_missing() -> None:
    compat.import_torchvision()
    before = list(compat._declared)
    compat.declare_operators()
    assert not compat.needs_shim()
    assert compat._declared == before


def test_without_torchvision_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="torchvision is not installed"):
        compat._compiled_operators()


@pytest.mark.slow
def test_avalanche_imports_after_it() -> None:
    code = (
        "from bell_bench.compat import import_torchvision\n"
        "import_torchvision()\n"
        "from avalanche.training.supervised import EWC\n"
        "print(EWC.__name__)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "EWC\n", done.stderr
