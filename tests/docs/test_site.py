"""The site builds strictly, without network, and its pages need none."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.slow
def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("material", reason="pip install -e '.[docs]'")
    pytest.importorskip("mkdocstrings", reason="pip install -e '.[docs]'")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for tag in re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"[^\"]*\"", text):
            assert "//" not in tag, (page.name, tag)
        for tag in re.findall(r"<link\b[^>]*rel=\"(?:stylesheet|preconnect)\"[^>]*>", text):
            assert "//" not in tag, (page.name, tag)
    protocol = (tmp_path / "protocol.html").read_text(encoding="utf-8")
    assert "latent_coordinates" in protocol
    worked = (tmp_path / "writing-an-algorithm.html").read_text(encoding="utf-8")
    assert worked.count("MyIdea") >= 3, "the three templates are on the page"
    api = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert 'id="bell_bench.api.evaluate"' in api
