"""The conformance suite finds what it says it finds, and our own algorithms pass it."""

from __future__ import annotations

import pathlib
import re
import sys
import types

import pytest

from bell_bench.errors import UsageError
from bell_bench.options import complete
from bell_bench.plugins import registry
from bell_bench.specs import AlgorithmSpec, Option
from bell_bench.testing import CONTRACTS, ContractBroken, check_algorithm, examine
from bell_bench_authors.testing import isolation
from bell_bench_authors.testing.conformance import contract_text, explanation
from bell_bench_authors.testing.contracts import _values
from tests.plugins.authors.misbehaving import (
    ALSO_BROKEN,
    BREAKERS,
    Good,
    Hangs,
    HangsOnLoad,
    Labelled,
    LabelledOrNot,
    RefusesClasses,
    SavesPlainly,
    SeedsToNoEffect,
    Talks,
    Unstable,
)

DOCS = pathlib.Path(__file__).parents[3] / "docs"
BUILT_IN = sorted(p.spec.name for p in registry().algorithms if p.distribution == "bell-bench")


@pytest.mark.slow
def test_a_good_algorithm_keeps_every_contract() -> None:
    found = {finding.contract: finding for finding in examine(Good)}
    assert tuple(found) == CONTRACTS
    assert {finding.status for name, finding in found.items() if name != "options"} == {"kept"}
    assert str(found["options"]) == "options: not applicable: it declares no options"


@pytest.mark.parametrize(
    ("contract", "kind", "told"), BREAKERS, ids=[kind.__name__ for _, kind, _ in BREAKERS]
)
def test_a_broken_contract_is_named_told_and_documented(
    contract: str, kind: type[Good], told: str
) -> None:
    with pytest.raises(ContractBroken) as error:
        check_algorithm(kind, contract)
    text = str(error.value)
    assert text.startswith(f"contract {contract} is broken: ")
    assert told in text
    assert f"bell-bench check --explain {contract}" in text
    assert contract_text(contract) in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contract", "kind"),
    [(contract, kind) for contract, kind, _ in BREAKERS],
    ids=[kind.__name__ for _, kind, _ in BREAKERS],
)
def test_a_whole_examination_finds_the_one_that_is_broken(contract: str, kind: type[Good]) -> None:
    found = {finding.contract: finding for finding in examine(kind)}
    broken = {name for name, finding in found.items() if finding.status == "broken"}
    assert broken == {contract, *ALSO_BROKEN.get(kind, ())}
    for finding in found.values():
        if finding.status == "not run":
            assert finding.detail.endswith(f"(see contract {contract})")


@pytest.mark.slow
def test_formats_that_cannot_run_code_are_allowed() -> None:
    check_algorithm(SavesPlainly, "plain-files")


def test_a_seed_that_follows_the_jobs_is_allowed_even_if_no_score_shows_it() -> None:
    check_algorithm(SeedsToNoEffect, "seed")


def test_every_contract_is_broken_by_someone() -> None:
    assert {contract for contract, _, _ in BREAKERS} == set(CONTRACTS)


def test_a_broken_plain_run_leaves_other_contracts_open() -> None:
    (kind,) = (kind for _, kind, _ in BREAKERS if kind.__name__ == "FailsToLearn")
    (finding,) = examine(kind, ("deterministic",))
    assert finding.status == "not run"
    assert "no such luck" in finding.detail


def test_a_class_that_no_other_process_can_import_goes_on_in_this_one() -> None:
    class Local(Good):
        pass

    check_algorithm(Local, "resumes")


def test_stability_is_only_asked_of_those_who_claim_it() -> None:
    class Modest(Unstable):
        stable = False

    (finding,) = examine(Modest, ("stable",))
    assert (finding.status, "claim" in finding.detail) == ("not applicable", True)


def test_what_an_algorithm_refuses_is_not_held_against_it() -> None:
    (finding,) = examine(RefusesClasses, ("multi-class",))
    assert finding.status == "not applicable"
    assert "binary problems only" in finding.detail


@pytest.mark.parametrize(
    ("option", "values"),
    [
        (Option(int, 3, ""), [4]),
        (Option(int, 3, "", minimum=1), [1]),
        (Option(int, 1, "", minimum=1), [2]),
        (Option(int, 1, "", above=0), [2]),
        (Option(float, 0.5, ""), [0.25]),
        (Option(float, 0.0, "", minimum=0), [1.0]),
        (Option(float, 0.5, "", above=0.25), [0.375]),
        (Option(float, None, "", optional=True, above=2), [3.0]),
        (Option(int, None, "", optional=True), []),
        (Option(int, 2, "", choices=(1, 2)), [1]),
        (Option(str, "a", ""), []),
    ],
)
def test_values_that_an_option_is_tried_with(option: Option, values: list[object]) -> None:
    assert _values(option) == values
    spec = AlgorithmSpec("x", "x:X", "", options={"o": option})
    for value in values:
        assert complete(spec, {"o": value}) == {"o": value}, "it is allowed"


def test_an_option_that_nothing_is_known_for_is_told() -> None:
    (finding,) = examine(Labelled, ("options",))
    assert finding.status == "not applicable"
    assert finding.detail == "nothing could be tried: no other value is known for label"
    (finding,) = examine(LabelledOrNot, ("options",))
    assert finding.status == "kept"
    assert finding.detail == "not tried, as no other value is known: label"


@pytest.mark.slow
def test_a_call_that_hangs_is_ended_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "LIMIT", 5.0)
    kept, hung, left = examine(Hangs, ("scores", "few-points", "stable"))
    assert (kept.status, hung.status, left.status) == ("kept", "broken", "not run")
    assert hung.detail.startswith("learn(problem 2: ")
    assert hung.detail.endswith(" had not ended after 5 s")
    assert left.detail == f"{hung.detail} (see contract few-points)"
    (hung,) = examine(HangsOnLoad, ("resumes",))
    assert (hung.status, hung.detail) == ("broken", "load(folder) had not ended after 5 s")


def test_a_class_whose_module_only_this_process_knows_is_examined_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As pytest's importlib mode and some notebooks load modules."""
    hidden = types.ModuleType("hidden_from_others")
    kind = type("Hidden", (Good,), {"__module__": hidden.__name__})
    hidden.Hidden = kind  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, hidden.__name__, hidden)
    (finding,) = examine(kind, ("scores",))
    assert finding.status == "kept", finding.detail


def test_what_an_algorithm_prints_is_heard(capsys: pytest.CaptureFixture[str]) -> None:
    assert [finding.status for finding in examine(Talks, ("scores",))] == ["kept"]
    assert "hear, hear" in capsys.readouterr().err


def test_every_contract_is_documented_in_its_own_words() -> None:
    page = (DOCS / "contracts.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## ([\w-]+)\n(.*?)(?=^## |\Z)", page, re.S | re.M))
    for name in CONTRACTS:
        told = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(sections[name].split()))
        assert " ".join(explanation(name)) == told, name


def test_unknown_contracts_and_what_is_no_algorithm() -> None:
    with pytest.raises(UsageError, match="did you mean deterministic"):
        check_algorithm(Good, "determinstic")
    with pytest.raises(UsageError, match="not a subclass"):
        check_algorithm(dict)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "sa" else pytest.mark.slow) for name in BUILT_IN],
)
def test_built_in_algorithms_keep_every_contract(name: str) -> None:
    check_algorithm(f"bell-bench:{name}")
