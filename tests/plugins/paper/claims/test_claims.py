"""Our file of claims: every word of it is known, and its numbers are the paper's."""

from __future__ import annotations

import json

import pytest

from bell_bench.errors import UsageError
from bell_bench.plugins import registry
from bell_bench_leaderboard.properties import read_rules
from bell_bench_paper.claims import Evidence, judge, read_book
from bell_bench_paper.claims.ablations import ABLATIONS
from bell_bench_paper.claims.claims import PROPERTY
from bell_bench_paper.claims.evidence import NEVER_RUN
from tests.plugins.paper.claims.making import book, content

OURS = read_book()
CONTRADICTED = {"ctrl-plasticity", "ctrl-in-houdini", "property-plasticity-lmc",
                "property-few-shot-rs", "property-few-shot-houdini"}  # fmt: skip
"""What the paper says and its own tables deny."""


def in_print():
    return judge(Evidence(OURS, []), OURS.parts)


def test_there_are_many_of_every_part():
    assert len(OURS.claims) >= 100
    for part in ("bell", "ctrl", "scale", "ablations"):
        assert sum(claim.part == part for claim in OURS.claims) >= 12, part


@pytest.mark.parametrize("claim", OURS.claims, ids=lambda claim: claim.id)
def test_a_claim_names_what_there_is(claim):
    assert claim.source
    assert claim.says
    if claim.suite in ABLATIONS:
        from bell_bench_paper.ablations import density, nt_search

        known = density.METHODS if claim.suite == "density" else nt_search.METHODS
        assert {*claim.of, *claim.against} <= set(known)
        return
    suite = registry().suite(claim.suite)
    algorithms = {each.spec.name for each in registry().algorithms}
    assert {*claim.of, *claim.against} <= algorithms
    assert set(claim.on) <= set(suite.sequences)
    assert claim.protocol in suite.protocols
    if claim.rule == PROPERTY:
        assert claim.trait in {rule.name for rule in read_rules()}
    else:
        assert claim.on


def test_the_parts_run_what_there_is():
    algorithms = {each.spec.name for each in registry().algorithms}
    for part in OURS.parts.values():
        for runs in part.runs:
            suite = registry().suite(runs.suite)
            assert set(runs.sequences) <= set(suite.sequences)
            assert runs.protocol in suite.protocols
            assert set(runs.algorithms) <= algorithms


def test_every_claim_can_be_decided_by_the_runs_of_its_part():
    """But for one, which needs to be given: random search takes long for sixty problems."""
    lacking = {
        judged.claim.id: " ".join(quantity.measured.lacking for quantity in judged.quantities)
        for judged in in_print()
    }
    assert not [told for told in lacking.values() if "not planned" in told]
    never = {claim for claim, told in lacking.items() if NEVER_RUN in told}
    assert never == {"property-scalability-rs"}


def test_every_row_of_the_table_of_properties_is_a_claim():
    found = {(claim.trait, claim.of[0]) for claim in OURS.claims if claim.rule == PROPERTY}
    names = ("rs", "houdini", "lmc", "mntdp-d", "picle")
    assert found == {(rule.name, name) for rule in read_rules() for name in names}


def test_printed_averages_are_those_of_the_printed_rows():
    for table in OURS.tables:
        for name in table.of:
            values = [table.value(name, place) for place in table.rows]
            if table.average is not None and values and None not in values:
                assert table.mean(name) == pytest.approx(sum(values) / len(values), abs=0.011)


def test_stated_numbers_follow_from_the_tables_or_a_note_says_why_not():
    for judged in in_print():
        published = judged.decisive.published
        if judged.claim.stated is not None and published is not None:
            assert judged.claim.note or abs(judged.claim.stated - published) < 0.011, judged.claim


def test_the_papers_own_figures_hold_its_claims_but_for_a_few():
    denied = {judged.claim.id for judged in in_print() if judged.in_print == "not reproduced"}
    assert denied == CONTRADICTED


def test_published_means_and_differences_follow_from_tables(tmp_path):
    small = book(tmp_path)
    assert small.published("bell", "A", "sa", ["S_pl"]) == 70
    assert small.published("bell", "A", "sa", ["S_pl", "S_in"]) == 65
    assert small.published("bell", "A", "picle", ["S_pl", "S_in"]) == 78, "its average is printed"
    assert small.published("bell", "A_gain", "picle", ["S_pl"]) == 10
    assert small.published("bell", "A", "picle", ["S_in"]) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rule": "abov"}, "did you mean above"),
        ({"figure": "B"}, "figure of claim claim-0"),
        ({"part": "bel"}, "part of claim claim-0"),
        ({"settings": {"margn": 1}}, "settings of claim claim-0"),
        ({"on": "bth"}, "group of sequences"),
        ({"nonsense": 1}, "not a file of claims"),
        ({"settings": {"margin": "x"}}, "settings of claim claim-0"),
        ({"of": []}, "claim-0 names no algorithm"),
        ({"ablation": "densty"}, "unknown ablation"),
        ({"ablation": "nt-search", "figure": "best", "on": ["x"]}, "numbers of paths"),
        ({"property": "plasticty", "observed": {"picle": True}}, "did you mean plasticity"),
    ],
)
def test_a_wrong_word_is_told(tmp_path, change, said):
    claim = {"rule": "above", "figure": "A", "of": ["sa"], "on": "both", **change}
    with pytest.raises(UsageError, match=said):
        book(tmp_path, claim)


def test_what_is_no_file_of_claims_is_told(tmp_path):
    file = tmp_path / "claims.json"
    for text in ("{", "[]", "[" * 10**5, json.dumps({"title": "x"})):
        file.write_text(text)
        with pytest.raises(UsageError, match="not a file of claims"):
            read_book(file)
    twice = {"rule": "above", "figure": "A", "of": ["sa"], "on": "both", "id": "one"}
    file.write_text(json.dumps(content(twice, twice)))
    with pytest.raises(UsageError, match="several claims have the id one"):
        read_book(file)
