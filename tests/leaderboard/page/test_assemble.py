"""The page as text: whole, self-contained, and with nothing of a result file as markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from bell_bench_leaderboard.page import make_page
from bell_bench_leaderboard.page.assemble import as_data
from bell_bench_leaderboard.properties import read_rules
from bell_bench_leaderboard.rows import printable
from tests.leaderboard.making import read, record, series

HOSTILE = ["<script>alert(1)</script>", "</script><script>alert(1)</script>", "<!--<script>",
           "]]>", "{{style}}", "{{scripts}}", "&lt;b&gt;", "\u2028</script>"]  # fmt: skip


def page(*records, current=None):
    return make_page(
        list(map(read, records or series("sa", (0.5, 0.6)))), read_rules(), current=current
    )


def data_of(text):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found)


def test_nothing_is_fetched():
    text = page()
    assert "default-src 'none'" in text
    body = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", body)
    assert "{{" not in body


def test_only_our_scripts_may_run():
    text = page()
    allowed = re.findall(r"'sha256-([^']+)'", text.split("</head>")[0])
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts]
    assert hashes == allowed
    assert len(allowed) > 5
    assert "unsafe-inline" not in re.search(r"script-src ([^;]*);", text)[1]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_from_a_result_file_is_data(name):
    text = page(record(name, sequence=name), record("sa"))
    plain = page(record("picle"), record("sa"))
    assert text.count("<script") == plain.count("<script")
    assert text.count("<!--") == plain.count("<!--")
    board = data_of(text)["boards"][0]
    assert printable(name) in board["algorithms"]
    assert name in board["sequences"]


def test_data_survives_the_escaping():
    content = {"a": HOSTILE}
    assert json.loads(as_data(content)) == content
    assert not set("<>&") & set(as_data(content))


def test_no_path_of_this_machine_is_published():
    found = series("sa", (0.5, 0.6))
    text = page(*({**each, "place": "/home/somebody/runs/job-1"} for each in found))
    assert "somebody" not in text
    assert data_of(text)["jobs"][0]["place"] == "job-1"


def test_older_results_are_told():
    assert data_of(page(current={"bell": "2"}))["boards"][0]["older"] == "bell is at version 2 now"
    assert data_of(page(current={"bell": "1"}))["boards"][0]["older"] == ""


def test_the_licences_of_what_is_bundled_are_in_the_page():
    text = page()
    for owner in ("Mike Bostock", "Observable, Inc."):
        assert f"Copyright 20{'10-2026' if 'Mike' in owner else '20-2025'} {owner}" in text
    assert text.count("Permission to use, copy, modify") == 2


def test_boards_are_apart():
    text = page(record(), record(scale="paper"))
    assert len(data_of(text)["boards"]) == 2


def test_the_largest_board_comes_first():
    text = page(record("sa", scale="standard"), *series("sa", (0.5, 0.6)))
    assert ["standard" in board["title"] for board in data_of(text)["boards"]] == [False, True]
