"""From runs to verdicts: pairs, missing runs, long sequences, ablations, properties."""

from __future__ import annotations

import pytest

from bell_bench_paper.claims import judge
from bell_bench_paper.claims.judging import NOT_REPRODUCED, REPRODUCED, UNKNOWN
from bell_bench_paper.reproduction import Scope
from bell_bench_paper.reproduction.planning import narrowed
from tests.plugins.paper.claims.making import book, evidence, long, three

OVER_SA = {"rule": "above", "figure": "A", "of": ["picle"], "against": ["sa"], "on": ["S_pl"]}


def verdict(tmp_path, claim, *records, part="bell", **ablations):
    small = book(tmp_path, {"part": part, **claim})
    (found,) = judge(evidence(small, *records, **ablations), [part])
    return found


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((60, 71, 82), REPRODUCED), ((40, 51, 60), NOT_REPRODUCED), ((49, 71, 70), UNKNOWN)],
)
def test_differences_are_paired(tmp_path, scores, expected):
    """The scores themselves overlap widely; what decides is realisation by realisation."""
    found = verdict(tmp_path, OVER_SA, *three("sa", 50, 60, 71), *three("picle", *scores))
    assert found.verdict == expected
    assert found.published == 10
    mean = sum(scores) / 3 - 181 / 3
    assert found.decisive.measured.estimate.mean == pytest.approx(mean)


def test_problems_that_differ_are_not_paired(tmp_path):
    other = three("picle", 60, 71, 82, data_hash="y")
    found = verdict(tmp_path, OVER_SA, *three("sa", 50, 60, 71), *other)
    assert found.verdict == UNKNOWN


def test_missing_runs_are_named_and_what_is_there_is_shown(tmp_path):
    found = verdict(tmp_path, OVER_SA, *three("sa", 50, 60, 71), *three("picle", 60, 71))
    assert found.verdict == UNKNOWN
    assert found.why == "runs missing: picle on S_pl (r2)"
    assert found.decisive.measured.estimate.n == 2
    assert verdict(tmp_path, OVER_SA).why == "runs missing: picle on S_pl, sa on S_pl"


def test_without_runs_the_closest_rival_in_print_is_shown(tmp_path):
    of = ["sa", "picle", "mntdp-d"]
    table = {"suite": "bell", "figure": "A", "source": "Table 1", "of": of,
             "rows": {"S_pl": [70, 80, 79]}}  # fmt: skip
    (found,) = judge(evidence(book(tmp_path, HIGHEST, tables=[table])), ["bell"])
    assert found.decisive.label == "picle − mntdp-d on S_pl"
    assert found.published == 1


def test_failed_runs_say_how(tmp_path):
    failed = three("picle", 60, 71, 82)
    failed[1]["status"] = "timeout"
    found = verdict(tmp_path, OVER_SA, *three("sa", 50, 60, 71), *failed)
    assert found.why == "runs missing: picle on S_pl (r1: timeout)"


def test_runs_that_no_part_has_are_told(tmp_path):
    found = verdict(tmp_path, {**OVER_SA, "against": ["rs"]}, *three("picle", 60, 71, 82))
    assert found.why == "runs missing: rs on S_pl (not planned)"


def test_transfer_needs_the_standalone_runs(tmp_path):
    claim = {"rule": "above", "figure": "Tr_last", "of": ["picle"], "on": ["S_pl"]}
    assert "sa on S_pl" in verdict(tmp_path, claim, *three("picle", 60, 71, 82)).why
    runs = (*three("picle", 60, 71, 82), *three("sa", 50, 60, 71))
    assert verdict(tmp_path, claim, *runs).verdict == REPRODUCED


def test_the_standalone_runs_come_with_any_others(tmp_path):
    """As ``--algo picle`` leaves it: nobody asked for sa, and it was run for Tr⁻¹."""
    claim = {"rule": "above", "figure": "Tr_last", "of": ["picle"], "on": ["S_pl"]}
    small = narrowed(book(tmp_path, claim), Scope(algorithms=("picle",)))
    runs = (*three("picle", 60, 71, 82), *three("sa", 50, 60, 71))
    (found,) = judge(evidence(small, *runs), ["bell"])
    assert found.verdict == REPRODUCED
    (lacking,) = judge(evidence(small, *runs[:3]), ["bell"])
    assert lacking.why == "runs missing: sa on S_pl"


def test_averages_need_every_sequence(tmp_path):
    claim = {**OVER_SA, "on": "both"}
    one = (*three("sa", 50, 60, 71), *three("picle", 60, 71, 82))
    assert verdict(tmp_path, claim, *one).verdict == UNKNOWN
    two = (*three("sa", 50, 60, 70, sequence="S_in"), *three("picle", 51, 62, 70, sequence="S_in"))
    found = verdict(tmp_path, claim, *one, *two)
    assert found.verdict == REPRODUCED
    assert found.decisive.measured.estimate.mean == pytest.approx((32 / 3 + 1) / 2)
    assert verdict(tmp_path, {**claim, "each": True}, *one, *two).verdict == UNKNOWN


def test_one_realisation_gives_no_verdict(tmp_path):
    small = book(tmp_path, OVER_SA, parts={"bell": {"runs": [
        {"suite": "bell", "protocol": "paper", "sequences": ["S_pl"],
         "algorithms": ["sa", "picle"], "realisations": [0]}]}})  # fmt: skip
    (found,) = judge(evidence(small, *three("sa", 50), *three("picle", 80)), ["bell"])
    assert (found.verdict, found.why) == (UNKNOWN, "one realisation: no interval")
    assert found.decisive.measured.estimate.mean == pytest.approx(30)


HIGHEST = {"rule": "highest", "figure": "A", "of": ["picle"], "against": ["sa", "mntdp-d"],
           "on": ["S_pl"]}  # fmt: skip


@pytest.mark.parametrize(
    ("third", "expected"),
    [((40, 51, 62), REPRODUCED), ((59, 75, 70), UNKNOWN), ((80, 90.5, 100), NOT_REPRODUCED)],
)
def test_the_highest_is_above_each(tmp_path, third, expected):
    runs = (*three("sa", 50, 60, 70), *three("picle", 60, 70.5, 81), *three("mntdp-d", *third))
    found = verdict(tmp_path, HIGHEST, *runs)
    assert found.verdict == expected
    assert len(found.quantities) == 2


def test_one_of_many_fails_a_claim_only_beyond_chance(tmp_path):
    """The difference's 95% interval leaves out 0, but not at the level for two at once."""
    runs = (*three("sa", 50, 60, 70), *three("picle", 60, 70.5, 81))
    close = three("mntdp-d", 61, 72, 83)
    alone = {**HIGHEST, "against": ["mntdp-d"]}
    assert verdict(tmp_path, alone, *runs, *close).verdict == NOT_REPRODUCED
    many = verdict(tmp_path, {**HIGHEST, "against": ["mntdp-d", "sa"]}, *runs, *close)
    assert many.decisive.label == "picle − mntdp-d on S_pl"
    assert many.decisive.measured.estimate.high < 0 < many.decisive.wide.estimate.high
    assert many.verdict == UNKNOWN


def test_an_order_is_of_each_and_the_next(tmp_path):
    claim = {"rule": "ascending", "figure": "A", "of": ["sa", "mntdp-d", "picle"], "on": ["S_pl"]}
    runs = (
        *three("sa", 50, 60, 70),
        *three("mntdp-d", 55, 65.5, 76),
        *three("picle", 60, 70.5, 81),
    )
    found = verdict(tmp_path, claim, *runs)
    assert found.verdict == REPRODUCED
    assert [each.label for each in found.quantities] == [
        "sa − mntdp-d on S_pl",
        "mntdp-d − picle on S_pl",
    ]
    backwards = {**claim, "of": ["picle", "mntdp-d", "sa"]}
    assert verdict(tmp_path, backwards, *runs).verdict == NOT_REPRODUCED


def test_a_long_sequence_run_once_has_an_interval_over_its_problems(tmp_path):
    claim = {"rule": "above", "figure": "A_gain", "of": ["picle"], "on": ["S_long"],
             "settings": {"margin": 5}}  # fmt: skip
    found = verdict(tmp_path, claim, long("sa"), long("picle", 0.6), part="scale")
    assert found.verdict == REPRODUCED
    assert found.decisive.measured.over == "problems of one realisation"
    assert found.decisive.measured.estimate.mean == pytest.approx(10)
    highest = {**HIGHEST, "on": ["S_long"]}
    runs = (long("sa"), long("picle", 0.6), long("mntdp-d", 0.7))
    assert verdict(tmp_path, highest, *runs, part="scale").verdict == NOT_REPRODUCED


@pytest.mark.parametrize("figure", ["flops_growth", "memory_growth"])
@pytest.mark.parametrize(
    ("rule", "growing", "expected"),
    [("above", 2.0, REPRODUCED), ("above", 1.0, NOT_REPRODUCED), ("below", 1.0, REPRODUCED)],
)
def test_costs_that_grow_along_a_long_sequence(tmp_path, figure, rule, growing, expected):
    claim = {"rule": rule, "figure": figure, "of": ["picle"], "on": ["S_long"],
             "settings": {"margin": 1.5}}  # fmt: skip
    runs = (long("sa"), long("picle", growing=growing))
    found = verdict(tmp_path, claim, *runs, part="scale")
    assert found.verdict == expected
    assert found.decisive.measured.estimate.mean == pytest.approx(growing, rel=0.01)


def test_flops_are_measured_in_those_of_standalone_networks(tmp_path):
    claim = {"rule": "within", "figure": "flops_growth", "of": ["picle"], "on": ["S_long"],
             "settings": {"value": 1, "tolerance": 0.1}}  # fmt: skip
    runs = (long("sa", growing=3.0), long("picle", growing=3.0))
    assert verdict(tmp_path, claim, *runs, part="scale").verdict == REPRODUCED


def density(*positions):
    return [{"method": method, "N": 500, "seed": seed, "average_position": value}
            for method, values in positions for seed, value in enumerate(values)]  # fmt: skip


@pytest.mark.parametrize(
    ("loading", "expected"),
    [((1, 1.1, 1.2), REPRODUCED), ((-1, -1.1, -1.2), NOT_REPRODUCED), ((0, 0, 0), UNKNOWN)],
)
def test_the_density_ablation(tmp_path, loading, expected):
    claim = {"ablation": "density", "rule": "above", "figure": "position", "on": ["500"],
             "of": ["diag_loading"], "against": ["rp_20"]}  # fmt: skip
    rows = density(("rp_20", (0, 0, 0)), ("diag_loading", loading))
    found = verdict(tmp_path, claim, part="ablations", density=rows)
    assert found.verdict == expected
    assert found.decisive.measured.over == "seeds"
    assert "ablation density" in verdict(tmp_path, claim, part="ablations").why
    absent = {**claim, "on": ["44000"]}
    assert verdict(tmp_path, absent, part="ablations", density=rows).verdict == UNKNOWN


def searches(**methods):
    """Rows of a search that finds these accuracies in order, on two realisations."""
    return [
        {"method": method, "realisation": realisation, "seed": 0, "paths": paths + 1,
         "best_accuracy": max(found[: paths + 1]) + realisation / 1000}
        for method, found in methods.items()
        for realisation in range(2)
        for paths in range(len(found))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("figure", "on", "expected"),
    [
        ("best", ["1"], 60.05),
        ("best", ["3"], 70.05),
        ("end", [], 70.05),
        ("paths", [], 2.0),
        ("paths_share", [], 0.5),
        ("anytime", [], 67.55),
    ],
)
def test_the_search_ablation(tmp_path, figure, on, expected):
    claim = {"ablation": "nt-search", "rule": "above", "figure": figure, "on": on, "of": ["BO_l2"]}
    rows = searches(BO_l2=(0.6, 0.7), RS=(0.5, 0.5, 0.5, 0.7))
    found = verdict(tmp_path, claim, part="ablations", nt_search=rows)
    assert found.decisive.measured.estimate.mean == pytest.approx(expected)


def test_the_search_ablation_beyond_all_paths_is_missing(tmp_path):
    claim = {"ablation": "nt-search", "rule": "above", "figure": "best", "on": ["9"], "of": ["RS"]}
    found = verdict(tmp_path, claim, part="ablations", nt_search=searches(RS=(0.5, 0.7)))
    assert found.why == "runs missing: RS at 9"


@pytest.mark.parametrize(
    ("scores", "observed", "expected"),
    [
        ((50, 60.1, 71), True, REPRODUCED),
        ((50, 60.1, 71), False, NOT_REPRODUCED),
        ((20, 30, 40.2), True, NOT_REPRODUCED),
        ((20, 30, 40.2), False, REPRODUCED),
        ((20, 60, 99), True, UNKNOWN),
        ((20, 60, 99), False, UNKNOWN),
    ],
)
def test_ticks_and_crosses_of_properties(tmp_path, scores, observed, expected):
    claim = {"property": "plasticity", "observed": {"picle": observed}}
    found = verdict(tmp_path, claim, *three("sa", 50, 60, 71), *three("picle", *scores))
    assert found.claim.id == "claim-0-picle"
    assert found.verdict == expected
    assert found.rule == ("" if observed else "not: ") + "A − sa on S_pl ≥ -1"
    place = {REPRODUCED: "lies there", NOT_REPRODUCED: "lies elsewhere", UNKNOWN: "on both sides"}
    assert found.why.endswith(place[expected])


def test_a_property_of_all_sequences_is_of_those_that_its_part_runs(tmp_path):
    claim = {"property": "stability", "observed": {"picle": True}}
    found = verdict(tmp_path, claim, *three("picle", 60, 70, 80))
    assert found.decisive.question.on == ("S_pl", "S_in")
    assert found.why == "runs missing: picle on S_in"


def test_each_protocol_is_a_claim_of_its_own(tmp_path):
    claim = {**OVER_SA, "on": ["S_in"], "protocols": ["paper", "authors-code"]}
    small = book(tmp_path, claim)
    job = {"sequence": "S_in", "protocol": "authors-code"}
    runs = (*three("sa", 50, 60, 71, **job), *three("picle", 60, 71, 82, **job))
    found = {each.claim.id: each.verdict for each in judge(evidence(small, *runs), ["bell"])}
    assert found == {"claim-0-paper": UNKNOWN, "claim-0-authors-code": REPRODUCED}
