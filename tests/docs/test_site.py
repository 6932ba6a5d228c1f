"""The site builds strictly, without network, and its pages need none."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests.docs.test_pages import public

GIVEN = (
    "bell_bench.modular.library.Library.solutions",
    "bell_bench.modular.library.Solution.names",
    "bell_bench.modular.library.Solution.architecture",
    "bell_bench.modular.library.Solution.problem",
    "bell_bench.modular.architecture.Architecture",
    "bell_bench.modular.settings.TrainingSettings.batch",
    "bell_bench.keeping.KeepingAlgorithm.kept",
    "bell_bench.modular.shared_algorithm.SharedAlgorithm.network",
    "bell_bench.modular.shared_algorithm.Training.progress",
    "bell_bench.modular.path.NEW",
    "bell_bench.harness.forecast.Forecast",
    "bell_bench_submissions.check.Report",
    "bell_bench_paper.reproduction.verdicts.Reproduction",
    "bell_bench.descriptions.details.Description",
    "bell_bench.modular.evaluations.EvaluationStore",
    "bell_bench.plugins.PluginInfo",
)
"""What the templates and pages use of what the public names give and take."""
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
    reference = "".join(
        (tmp_path / page).read_text(encoding="utf-8") for page in ("api.html", "hooks.html")
    )
    entries = set(re.findall(r'id="(bell_bench[\w.]*)"', reference))
    assert public() <= entries, "a public name without an entry"
    assert set(GIVEN) <= entries
    assert not [entry for entry in entries if "__init__" in entry or "__post_init__" in entry]
