"""The drawn images as a source: its domains take the places of the suites' own."""

from __future__ import annotations

import pathlib

from bell_bench.suites.bell.domains import DOMAINS as BELL
from bell_bench.suites.ctrl.domains import DOMAINS as CTRL
from bell_bench_drawn.source import SOURCE

CORE = pathlib.Path(__file__).parents[3] / "bell_bench"


def test_every_domain_stands_where_the_official_one_does():
    told = [domain.told for domain in (*BELL.values(), *CTRL.values())]
    assert [(each.name, each.shape, each.classes) for each in SOURCE.domains] == [
        (each.name, each.shape, each.classes) for each in told
    ]


def test_the_core_imports_no_drawn_image():
    for file in CORE.rglob("*.py"):
        assert "bell_bench_drawn" not in file.read_text(encoding="utf-8"), file
