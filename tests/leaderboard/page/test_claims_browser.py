"""The page of claims in a real browser, opened from disk. Skipped where there is none."""

from __future__ import annotations

import pytest

from bell_bench_paper.claims import judge
from bell_bench_paper.claims.page import make_claims_page
from bell_bench_paper.claims.report import claim_row, paper_grids
from tests.leaderboard.page.test_browser import (  # noqa: F401
    EVIL,
    By,
    Keys,
    assert_fits,
    browser,
    choose,
    pytestmark,
    rows,
)
from tests.plugins.paper.claims.making import book, evidence, three
from tests.plugins.paper.claims.test_report import CLAIMS

TABLE = "#claim-table"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    runs = [*three("sa", 50, 60, 71), *three("picle", 60, 71, 82)]
    found = evidence(book(folder, *({**claim, "says": EVIL} for claim in CLAIMS)), *runs)
    claims = [claim_row(each) for each in judge(found, ["bell"])]
    page = folder / "page.html"
    facts = {"paper": EVIL, "time": "0:01"}
    page.write_text(make_claims_page(claims, paper_grids(found, ["bell"]), facts), encoding="utf-8")
    return page


@pytest.fixture
def opened(browser, file):  # noqa: F811
    browser.get_log("browser")
    browser.get(file.as_uri())
    yield browser
    assert browser.get_log("browser") == []


def test_claims_are_filtered_by_verdict_and_words(opened):
    assert len(rows(opened, TABLE)) == 3
    choose(opened, "verdict", "not reproduced")
    (line,) = rows(opened, TABLE)
    assert "claim-1" in line.text
    choose(opened, "verdict", "")
    opened.find_element(By.ID, "find").send_keys("mntdp-d")
    assert len(rows(opened, TABLE)) == 1
    assert opened.find_element(By.ID, "count").text == "1 of 3 claims"


def test_a_claim_opens_its_rule_and_figures(opened):
    rows(opened, TABLE)[1].click()
    dialog = opened.find_element(By.ID, "details")
    assert "A of picle − sa on S_pl < 0" in dialog.text
    assert "the paper's own figures contradict it" in dialog.text
    dialog.send_keys(Keys.ESCAPE)
    assert not dialog.is_displayed()


def test_texts_are_text(opened):
    assert opened.find_element(By.ID, "paper").text == EVIL
    assert not opened.find_elements(By.CSS_SELECTOR, "img")
    assert "70.00" in opened.find_element(By.ID, "paper-tables").text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_a_phone_and_a_desk_in_light_and_dark(opened, width, scheme):
    assert_fits(opened, width, scheme)
