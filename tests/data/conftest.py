"""Every test has folders of its own for images and for the cache."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "data"
GENUINE = Path(os.environ.get("BELL_BENCH_DATA") or SHARED)
"""Where genuine files may be; read before the fixture below hides it."""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The test's own data folder."""
    monkeypatch.setenv("BELL_BENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BELL_BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BELL_BENCH_PLUGINS", "bell-bench")
    from bell_bench.plugins import registry

    registry.cache_clear()
    yield tmp_path / "data"
    registry.cache_clear()


@pytest.fixture
def genuine(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the genuine MNIST and Fashion-MNIST, read only; skips without it."""
    if not (GENUINE / "MNIST" / "raw").is_dir():
        pytest.skip(f"no genuine images in {GENUINE}")
    monkeypatch.setenv("BELL_BENCH_DATA", str(GENUINE))
    return GENUINE
