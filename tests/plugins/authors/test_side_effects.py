"""What stands in for a library's function or class while it is watched looks like it."""

from __future__ import annotations

import functools
import inspect
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from bell_bench_authors.testing.side_effects import devices_asked_for, seeds_given

FUNCTIONS = [
    (devices_asked_for, torch.cuda, "is_available"),
    (devices_asked_for, torch.cuda, "device_count"),
    (devices_asked_for, torch.backends.mps, "is_available"),
    (seeds_given, np.random, "default_rng"),
    (seeds_given, torch, "Generator"),
    (seeds_given, np.random, "RandomState"),
    (seeds_given, random, "Random"),
]


@pytest.mark.parametrize(("watch", "owner", "name"), FUNCTIONS)
def test_a_stand_in_has_what_it_stands_in_for_has(
    watch: Callable[..., Any], owner: Any, name: str
) -> None:
    usual = getattr(owner, name)
    with watch("somebody"):
        stand_in = getattr(owner, name)
        assert stand_in is not usual
        assert set(dir(usual)) <= set(dir(stand_in))
        for attribute in ("__name__", "__qualname__", "__module__", "__doc__", "__wrapped__"):
            if hasattr(usual, attribute):
                assert getattr(stand_in, attribute) == getattr(usual, attribute)
    assert getattr(owner, name) is usual


def test_a_cached_function_keeps_its_cache_and_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    @functools.cache
    def device_count(of: str = "all") -> int:
        return 3

    monkeypatch.setattr(torch.cuda, "device_count", device_count)
    with devices_asked_for("somebody"):
        stand_in: Any = torch.cuda.device_count
        assert stand_in() == stand_in() == 3
        assert stand_in.cache_info().hits == 1
        assert stand_in.__wrapped__ is device_count.__wrapped__
        assert list(inspect.signature(stand_in).parameters) == ["of"]


def test_torchs_compiler_imports_while_devices_are_watched() -> None:
    """It looks at ``torch.backends.mps.is_available.__wrapped__``, from torch 2.15 on."""
    code = (
        "from bell_bench_authors.testing.side_effects import devices_asked_for\n"
        "with devices_asked_for('somebody'):\n"
        "    import torch._dynamo.variables.torch\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_questions_and_seeds_are_noticed_by_the_package_that_asks() -> None:
    package = __name__.partition(".")[0]
    with devices_asked_for(package) as asked:
        torch.cuda.is_available()
    assert asked == ["torch.cuda.is_available()"]
    with devices_asked_for("somebody") as asked:
        torch.cuda.is_available()
    assert asked == []
    with seeds_given(package) as given:
        np.random.default_rng(5)
        torch.Generator().manual_seed(6)
    assert given == ["5", "6"]
