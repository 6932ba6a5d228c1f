"""What a reproduction prints and writes."""

from __future__ import annotations

import csv
import io

import pytest

from bell_bench_leaderboard.grids import to_text
from bell_bench_paper.claims import Evidence, judge, read_book
from bell_bench_paper.claims.page import make_claims_page
from bell_bench_paper.claims.report import (
    claim_row,
    counts,
    paper_grids,
    reason,
    sensitivity_grid,
    to_csv,
    to_markdown,
    verdict_grid,
)
from tests.leaderboard.page.test_assemble import HOSTILE, data_of
from tests.plugins.paper.claims.making import book, evidence, three

CLAIMS = (
    {"rule": "above", "figure": "A", "of": ["picle"], "against": ["sa"], "on": ["S_pl"]},
    {"rule": "below", "figure": "A", "of": ["picle"], "against": ["sa"], "on": ["S_pl"],
     "note": "by the way"},
    {"rule": "above", "figure": "A", "of": ["mntdp-d"], "on": ["S_in"]},
)  # fmt: skip


@pytest.fixture
def found(tmp_path):
    runs = [*three("sa", 50, 60, 71), *three("picle", 60, 71, 82)]
    for protocol, gain in (("paper", 1), ("authors-code", 5)):
        job = {"sequence": "S_in", "protocol": protocol}
        runs += [
            *three("sa", 50, 60, 70, **job),
            *three("picle", *(50 + gain, 60 + gain, 71), **job),
        ]
    return evidence(book(tmp_path, *CLAIMS), *runs)


@pytest.fixture
def judged(found):
    return judge(found, ["bell"])


def test_verdicts_are_counted(judged):
    assert counts(judged) == {"reproduced": 1, "not reproduced": 1, "not enough evidence": 1}


def test_the_csv_has_a_row_per_claim(judged):
    rows = list(csv.DictReader(io.StringIO(to_csv(judged))))
    assert [row["verdict"] for row in rows] == [each.verdict for each in judged]
    assert float(rows[0]["measured"]) == pytest.approx(32 / 3, abs=1e-4)
    assert float(rows[0]["low"]) < float(rows[0]["measured"]) < float(rows[0]["high"])
    assert rows[0]["published"] == "10"
    assert rows[0]["rule"] == "A of picle − sa on S_pl > 0"
    assert rows[2]["measured"] == ""


def test_markdown_and_text_tell_all(judged, found):
    text = to_markdown(judged, paper_grids(found, ["bell"]), {"paper": "a paper"})
    assert "- not reproduced: 1" in text
    assert text.count("| claim-") == 3
    assert "| --- | --- | ---: | ---: | --- | --- | --- | --- |" in text, "numbers to the right"
    assert "by the way" in text
    assert "measured" in to_text(verdict_grid(judged, "bell"))


def test_a_claim_that_the_paper_contradicts_says_so(judged):
    assert judged[1].in_print == "not reproduced"
    assert "the paper's own figures contradict it; by the way" in reason(judged[1])
    assert "contradict" not in reason(judged[0])


def test_equal_figures_are_told(tmp_path):
    runs = (*three("sa", 50, 60, 71), *three("picle", 50, 60, 71))
    (found, *_) = judge(evidence(book(tmp_path, *CLAIMS), *runs), ["bell"])
    assert found.verdict == "not enough evidence", "a tie is neither above nor below"
    assert "all gave the same figure" in reason(found)


def test_published_and_measured_stand_below_each_other(found):
    (grid,) = paper_grids(found, ["bell"])
    lines = [[str(cell) for cell in row] for row in grid.rows]
    assert lines[0] == ["A", "S_pl", "published", "70.00", "80.00"]
    assert lines[1][2] == "measured"
    assert lines[1][3].startswith("60.33 [")
    assert lines[2] == ["A", "S_in", "published", "60.00", "–"]
    assert lines[4][:3] == ["A", "Avg. of 2", "published"]
    assert lines[5][4].startswith("66.")
    assert paper_grids(found, ["scale"]) == []


def test_what_the_protocol_changes(found):
    grid = sensitivity_grid(found, "bell")
    assert grid is not None
    assert list(grid.header[4:]) == ["paper", "authors-code", "difference"]
    rows = {(str(row[0]), str(row[2])): row for row in grid.rows}
    transfer = rows["Tr⁻¹", "picle"]
    assert str(transfer[4]).startswith("1.00")
    assert str(transfer[-1]) == "+2.67"
    assert ("Tr⁻¹", "sa") not in rows
    assert str(rows["A", "mntdp-d"][-1]) == "–"
    assert sensitivity_grid(found, "scale") is None
    ours = Evidence(read_book(), [], {})
    assert sensitivity_grid(ours, "scale") is None, "RS on S_long is under the one protocol, too"


def test_what_the_protocol_changes_on_average():
    grid = sensitivity_grid(Evidence(read_book(), [], {}), "bell")
    assert grid is not None
    rows = {tuple(map(str, row[:3])): str(row[3]) for row in grid.rows}
    assert rows["Tr⁻¹", "S_out", "picle"] == "15.41"
    assert rows["Tr⁻¹", "Avg. of 7", "picle"] == "17.22"
    assert rows["A", "Avg. of 2", "nt-only"] == "92.06"
    assert rows["Tr⁻¹", "Avg. of 2", "picle"] == "22.97", "as printed; the rows' mean is 22.965"


@pytest.mark.parametrize("text", HOSTILE)
def test_the_page_holds_everything_as_data(judged, found, text):
    rows = [{**claim_row(each), "says": text} for each in judged]
    page = make_claims_page(rows, paper_grids(found, ["bell"]), {"paper": text})
    plain = make_claims_page([], [], {"paper": "plain"})
    assert page.count("<script") == plain.count("<script")
    assert page.count("<!--") == plain.count("<!--")
    data = data_of(page)
    assert [each["says"] for each in data["claims"]] == [text] * 3
    assert data["tables"][0]["title"] == "Table 1, bell: published and measured"
    assert "default-src 'none'" in page
    assert "{{" not in page.replace(text, "")
