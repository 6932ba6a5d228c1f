"""All tests use a cache of their own; glyphs are drawn once per test session."""

from __future__ import annotations

import gc
import os
import pathlib
import sys
import tempfile

import hypothesis
import pytest

from bell_bench import cpu_determinism

_CACHE = pathlib.Path(tempfile.gettempdir()) / f"bell-bench-tests-{os.getuid()}"
os.environ["BELL_BENCH_CACHE"] = str(_CACHE / "cache")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else every job of every test compiles us anew
sys.dont_write_bytecode = False
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
cpu_determinism.hold()  # what tests train themselves is trained as jobs do it

hypothesis.settings.register_profile("tests", deadline=None)  # on a busy machine all is slow
hypothesis.settings.register_profile("deep", deadline=None, max_examples=4000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "tests"))


LONGEST = ("test_conformance.py", "test_killed.py", "test_new_algorithm.py", "test_cluster.py",
           "test_evaluate.py", "test_bandit.py", "test_parallel_paths.py")  # fmt: skip
"""The files that take minutes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, then others with slow tests, so that no process ends with one while
    the others wait."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path not in slow))


@pytest.fixture(autouse=True)
def _no_other_data(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """Whatever images the user has, tests look only where they put some."""
    monkeypatch.setenv("BELL_BENCH_DATA", str(tmp_path / "data"))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the garbage collector need not look at it again."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Collected in the end after all: triton's bindings report what is left as leaks."""
    gc.unfreeze()
