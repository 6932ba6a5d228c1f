"""Verdicts: yes, no, or not enough evidence, and rules that can be changed."""

from __future__ import annotations

import json

import pytest

from bell_bench.errors import UsageError
from bell_bench_leaderboard.boards import boards
from bell_bench_leaderboard.properties import NO, UNKNOWN, YES, property_grids, read_rules, verdicts
from tests.leaderboard.making import record, result_rows, series


def judged(records, rules=None):
    (board,) = boards(result_rows(records))
    found = verdicts(board, rules or read_rules())
    return {(each.rule.name, each.algorithm): each for each in found}


def few(scores):
    return [*series("a", scores, sequence="S_few"), *series("sa", (0.5,) * len(scores),
            sequence="S_few")]  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ((0.90, 0.91, 0.92), YES),
        ((0.50, 0.51, 0.52), NO),
        ((0.50, 0.70, 0.90), UNKNOWN),
        ((0.90,), UNKNOWN),
    ],
)
def test_an_interval_clears_the_threshold_or_fails_it_or_neither(scores, verdict):
    found = judged(few(scores))["few-shot", "a"]
    assert found.verdict == verdict
    assert found.findings[0].reason


def test_a_property_fails_if_one_clause_does():
    """S_in passes; S_sp shows nothing."""
    records = [
        *series("a", (0.9, 0.91, 0.92), sequence="S_in"), *series("a", (0.5,) * 3, sequence="S_sp"),
        *series("sa", (0.5,) * 3, sequence="S_in"), *series("sa", (0.5,) * 3, sequence="S_sp"),
    ]  # fmt: skip
    found = judged(records)["latent", "a"]
    assert [finding.verdict for finding in found.findings] == [YES, NO]
    assert found.verdict == NO


def test_what_was_not_run_is_no_evidence_and_is_named():
    found = judged(few((0.9, 0.9, 0.9)))["plasticity", "a"]
    assert found.verdict == UNKNOWN
    assert found.findings[0].reason == "S_pl: not run"


def test_a_failed_job_is_no_evidence():
    records = [*few((0.9, 0.91, 0.9)), record("b", status="timeout", sequence="S_few")]
    found = judged(records)["few-shot", "b"]
    assert found.verdict == UNKNOWN
    assert "timeout" in found.findings[0].reason


def test_forgetting_costs_stability():
    records = [record("a", (0.9,), (0.6,), realisation=i, sequence="S_pl") for i in range(3)]
    assert judged(records)["stability", "a"].verdict == NO


def test_our_rules_know_the_papers_properties():
    assert [rule.name for rule in read_rules()] == [
        "plasticity", "stability", "perceptual", "few-shot", "latent", "scalability", "backward",
    ]  # fmt: skip


def test_ctrl_is_judged_alike_with_either_network():
    def asked(suite):
        return [[clause.sequences.get(suite) for clause in rule.clauses] for rule in read_rules()]

    assert asked("ctrl") == asked("ctrl-resnet")
    records = [record("a", (0.9,), realisation=i, suite="ctrl-resnet") for i in range(3)]
    assert {"plasticity", "latent", "scalability"} <= {name for name, _ in judged(records)}


def test_a_suite_of_which_the_rules_know_nothing_has_stability_only():
    records = [record("a", (0.9,), realisation=i, suite="other") for i in range(3)]
    assert {name for name, _ in judged(records)} == {"stability"}


def test_a_rule_can_be_tuned():
    scores = (0.60, 0.61, 0.62)
    assert judged(few(scores))["few-shot", "a"].verdict == NO
    rules = read_rules(None, ["few-shot.threshold=5"])
    assert judged(few(scores), rules)["few-shot", "a"].verdict == YES


def test_rules_come_from_a_file(tmp_path):
    clause = {"figure": "A", "sequences": {"*": ["*"]}, "direction": "below", "threshold": 99}
    file = tmp_path / "rules.json"
    file.write_text(json.dumps({"modest": {"says": "is not perfect", "clauses": [clause]}}))
    records = [record("a", (0.9,), realisation=i) for i in range(3)]
    assert judged(records, read_rules(file))["modest", "a"].verdict == YES


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("latent", "PROPERTY.FIELD=VALUE"),
        ("lattent.threshold=1", "did you mean latent"),
        ("latent.thresh=1", "did you mean threshold"),
        ("latent.threshold=much", "'much' is not a number"),
        ("latent.threshold=nan", "threshold of a rule must be a finite number, not nan"),
        ("latent.direction=up", "unknown direction"),
        ("latent.figure=B", "unknown figure"),
    ],
)
def test_a_wrong_change_is_told(change, told):
    with pytest.raises(UsageError, match=told):
        read_rules(None, [change])


@pytest.mark.parametrize("text", ["{", "[]", '{"x": {}}', '{"x": {"says": "", "clauses": []}}'])
def test_a_file_that_holds_no_rules_is_refused(tmp_path, text):
    file = tmp_path / "rules.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="not a file of rules"):
        read_rules(file)


def test_the_table_tells_the_rule_that_decided():
    (board,) = boards(result_rows(few((0.90, 0.91, 0.92))))
    table, details = property_grids(board, read_rules())
    verdict = {row[0].text: row[table.header.index("a")].text for row in table.rows}
    assert verdict["few-shot"] == "yes"
    assert verdict["latent"] == "?"
    (found,) = [row for row in details.rows if [cell.text for cell in row[:2]] == ["few-shot", "a"]]
    assert [cell.text for cell in found[2:6]] == ["S_few", "Tr⁻¹ ≥ 15", "+41.00", "yes"]
    assert found[4].low


def test_a_ratio_has_no_sign():
    long = [record(name, [0.9] * 30, sequence="S_long", realisation=i, realisation_seed=30 + i)
            for name in ("sa", "a") for i in range(3)]  # fmt: skip
    (board,) = boards(result_rows(long))
    _, details = property_grids(board, read_rules())
    told = {str(row[4]) for row in details.rows if row[0].text == "scalability"}
    assert told == {"1.00 [1.00, 1.00]"}
