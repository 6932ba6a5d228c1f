"""What is published: every figure recomputed, and table and page made of these files."""

from __future__ import annotations

import csv
import json
import pathlib
import re
import warnings

import pytest

import bell_bench
from bell_bench.records import read_records
from bell_bench.records.reading import RECOMPUTED
from bell_bench_leaderboard import result_rows

PUBLISHED = pathlib.Path(__file__).parents[2] / "leaderboard/published"
SCORES = ("A", "F", "Tr_last")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left out or contradicted
        return result_rows(read_records([PUBLISHED]))


def scores(found):
    """Jobs and their scores as the CSV writes them."""
    return sorted(
        (row["algorithm"], row["suite"], row["sequence"], int(row["realisation"]), int(row["seed"]),
         *("" if row[name] in ("", None) else f"{float(row[name]):.6g}" for name in SCORES))
        for row in found
    )  # fmt: skip


def rounded(text):
    """JSON without the digits in which two versions of numpy may differ."""
    return json.loads(text, parse_float=lambda number: f"{float(number):.9g}")


def test_every_figure_follows_from_the_predictions(rows):
    assert {row["check"] for row in rows if row["status"] == "done"} == {RECOMPUTED}
    assert "mismatch" not in {row["status"] for row in rows}


def test_the_table_is_of_these_files(rows):
    with (PUBLISHED / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        assert scores(csv.DictReader(file)) == scores(rows)


def test_the_page_is_of_these_files(rows):
    page = (PUBLISHED / "index.html").read_text("utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    jobs = json.loads(found[1])["jobs"]
    assert scores({**job["settings"], **job} for job in jobs) == scores(rows)


def test_the_verdicts_are_of_these_files(tmp_path):
    own = PUBLISHED / "reproduction"
    found = bell_bench.reproduce("all", run=False, out=tmp_path / "none", given=[PUBLISHED, own])
    text = (own / "claims.json").read_text("utf-8")
    told = json.loads(text)
    assert found.facts["jobs"] == told["jobs"]
    assert found.counts == told["verdicts"]
    assert rounded(json.dumps(found.rows)) == rounded(text)["claims"]
    text = (PUBLISHED.parents[1] / "docs/results.md").read_text("utf-8")
    counts = found.counts
    assert (
        f'Of {sum(counts.values())} verdicts {counts["reproduced"]} are "reproduced", '
        f'{counts["not reproduced"]} "not reproduced" and '
        f'{counts["not enough evidence"]} "not enough evidence"'
    ) in text


def test_the_table_of_real_images_is_of_these_files():
    found = result_rows(read_records([PUBLISHED / "reproduction/real-images.zip"]))
    text = (PUBLISHED.parents[1] / "docs/results.md").read_text("utf-8")
    told = text.partition("## On real images")[2].partition("\n## ")[0]
    assert len(found) == 6
    for row in found:
        assert row["data"] == "imported images"
        assert row["check"] == RECOMPUTED
        gain = "" if row["algorithm"] == "sa" else f" {row['Tr_last']:+.2f}".replace("-", "−")
        cells = rf"\| {row['algorithm']} \| {row['A']:.2f} \| [\d.]+ \|{re.escape(gain)} \|"
        assert re.search(cells, told), cells
