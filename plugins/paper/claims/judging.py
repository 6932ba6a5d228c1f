"""Verdicts: each claim's figures are compared with the region of its rule."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bell_bench_leaderboard.bootstrap import LEVEL, MeanEstimate
from bell_bench_leaderboard.properties import EVERY, FIGURES, Rule, read_rules
from bell_bench_paper.claims.ablations import ABLATIONS
from bell_bench_paper.claims.claims import PROPERTY, Book, Claim
from bell_bench_paper.claims.evidence import Evidence, Measured
from bell_bench_paper.claims.regions import ASTRIDE, INSIDE, OUTSIDE, Region

REPRODUCED, NOT_REPRODUCED, UNKNOWN = "reproduced", "not reproduced", "not enough evidence"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, UNKNOWN)


@dataclass(frozen=True)
class Question:
    """One figure of a claim, and the region where it must lie."""

    figure: str
    name: str
    rival: str | None
    on: tuple[str, ...]
    region: Region


@dataclass(frozen=True)
class Quantity:
    """A question and its answer."""

    question: Question
    published: float | None
    measured: Measured
    wide: Measured
    """The same figure, at the level at which all intervals of the claim hold together. It is used
    to fail a claim, so that one of many figures does not fail it by chance."""

    @property
    def label(self) -> str:
        subject = self.question.name
        subject += f" − {self.question.rival}" if self.question.rival else ""
        return f"{subject} on {', '.join(self.question.on)}" if self.question.on else subject

    @property
    def place(self) -> str | None:
        """Where the interval lies; None if there is no interval to judge by."""
        narrow, wide = (
            each.estimate and each.estimate.interval for each in (self.measured, self.wide)
        )
        if self.measured.lacking or not narrow or not wide:
            return None
        if self.question.region.place(*wide) == OUTSIDE:
            return OUTSIDE
        return INSIDE if self.question.region.place(*narrow) == INSIDE else ASTRIDE


@dataclass(frozen=True)
class Judged:
    """A claim's verdict, and what decided it."""

    claim: Claim
    verdict: str
    why: str
    rule: str
    quantities: tuple[Quantity, ...]
    decisive: Quantity
    """The figure that fails, or has runs missing, or comes closest to failing."""
    in_print: str | None
    """The verdict on the paper's own numbers; None if the paper prints none."""

    @property
    def published(self) -> float | None:
        return self.claim.stated if self.claim.stated is not None else self.decisive.published


def judge(evidence: Evidence, parts: Iterable[str]) -> list[Judged]:
    """Judge all claims of these parts, in the order of the file."""
    asked, rules = set(parts), {rule.name: rule for rule in read_rules()}
    return [
        judge_claim(claim, evidence, rules) for claim in evidence.book.claims if claim.part in asked
    ]


def judge_claim(claim: Claim, evidence: Evidence, rules: dict[str, Rule]) -> Judged:
    """Measure the figures of one claim, and return the verdict that they give together."""
    asked = questions(claim, rules)
    quantities = tuple(_quantity(claim, each, evidence, len(asked)) for each in asked)
    verdict = _verdict(_all_hold([quantity.place for quantity in quantities]), claim.observed)
    decisive = min(quantities, key=_order)
    return Judged(
        claim, verdict, _why(verdict, decisive), words(claim, asked),
        quantities, decisive, _in_print(claim, quantities),
    )  # fmt: skip


def questions(claim: Claim, rules: dict[str, Rule]) -> list[Question]:
    """Return what must be measured to judge a claim."""
    if claim.rule == PROPERTY:
        return _of_property(claim, rules[claim.trait])
    places = [(place,) for place in claim.on] if claim.each else [claim.on]
    pairs: list[tuple[str, str | None]]
    if claim.rule == "ascending":
        pairs = list(itertools.pairwise(claim.of))
    else:
        pairs = list(itertools.product(claim.of, claim.against or (None,)))
    return [
        Question(claim.figure, name, rival, on, claim.region)
        for name, rival in pairs
        for on in places
    ]


def _of_property(claim: Claim, rule: Rule) -> list[Question]:
    """Return the questions of the rule's clauses; ``*`` stands for all sequences that the claim
    needs."""
    found = []
    for clause in rule.clauses:
        on = clause.sequences.get(claim.suite, clause.sequences.get(EVERY))
        if on is None:
            continue
        upward = clause.direction == "above"
        low, high = (
            (clause.threshold, float("inf")) if upward else (float("-inf"), clause.threshold)
        )
        asked = claim.on if EVERY in on else tuple(on)
        region = Region(low, high, closed=True)
        found.append(Question(clause.figure, claim.of[0], None, asked, region))
    return found


def _quantity(claim: Claim, asked: Question, evidence: Evidence, count: int) -> Quantity:
    def measured(level: float) -> Measured:
        return evidence.measure(
            claim.suite,
            claim.protocol,
            asked.figure,
            asked.name,
            asked.on,
            asked.rival,
            level=level,
        )

    wide = 1 - (1 - LEVEL) / count
    return Quantity(asked, _published(claim, asked, evidence.book), measured(LEVEL), measured(wide))


def _published(claim: Claim, asked: Question, book: Book) -> float | None:
    values = [
        book.published(claim.suite, asked.figure, name, asked.on)
        for name in (asked.name, asked.rival)
        if name is not None
    ]
    if None in values:
        return None
    return values[0] - sum(values[1:])


def _all_hold(places: Sequence[str | None]) -> bool | None:
    """Return whether all figures lie in their regions; None if that is not known."""
    if OUTSIDE in places:
        return False
    return True if set(places) == {INSIDE} else None


def _verdict(holds: bool | None, observed: bool) -> str:
    if holds is None:
        return UNKNOWN
    return REPRODUCED if holds == observed else NOT_REPRODUCED


def _order(quantity: Quantity) -> tuple[int, float]:
    """Return a key that sorts the decisive figure first: outside, lacking, astride, inside; then by
    the least room. If nothing was measured, the room is that of the printed figure."""
    rank = {OUTSIDE: 0, None: 1, ASTRIDE: 2, INSIDE: 3}[quantity.place]
    found, printed = quantity.measured.estimate, quantity.published
    if found is None and printed is not None:
        found = MeanEstimate(printed, None, None, 0)
    return rank, quantity.question.region.room(found) if found else math.inf


def _why(verdict: str, decisive: Quantity) -> str:
    """Return what gave the verdict. "There" is the region of the rule in words; for a cross in the
    property table, these words begin with "not"."""
    if verdict != UNKNOWN:
        return f"the whole interval lies {'there' if verdict == REPRODUCED else 'elsewhere'}"
    measured = decisive.measured
    if measured.lacking:
        return measured.lacking
    if measured.estimate is None or measured.estimate.interval is None:
        return "one realisation: no interval"
    return "the interval lies on both sides"


def _in_print(claim: Claim, quantities: Sequence[Quantity]) -> str | None:
    """Return the rule's verdict on the published numbers, as if they were exact."""
    values = [quantity.published for quantity in quantities]
    if claim.stated is not None and len(values) == 1 and values[0] is None:
        values = [claim.stated]
    if not values or None in values:
        return None
    regions = [quantity.question.region for quantity in quantities]
    places = [region.place(value, value) for region, value in zip(regions, values, strict=True)]
    return _verdict(_all_hold(places), claim.observed)


def words(claim: Claim, asked: Sequence[Question]) -> str:
    """Return the rule as a sentence."""
    if claim.rule == PROPERTY:
        clauses = " and ".join(
            f"{FIGURES[each.figure]} on {', '.join(each.on)} {each.region}" for each in asked
        )
        return clauses if claim.observed else f"not: {clauses}"
    figure = {**FIGURES, **ABLATIONS.get(claim.suite, {})}[claim.figure]
    return f"{figure} of {_subjects(claim)}{_where(claim)} {claim.region}"


def _subjects(claim: Claim) -> str:
    if claim.rule == "ascending":
        return f"each − the next among {', '.join(claim.of)}"
    return " − ".join(_each(names) for names in (claim.of, claim.against) if names)


def _each(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"each of {', '.join(names)}"


def _where(claim: Claim) -> str:
    if not claim.on:
        return ""
    place = "at" if claim.suite in ABLATIONS else "on"
    return f" {place} {_each(claim.on) if claim.each else ', '.join(claim.on)}"
