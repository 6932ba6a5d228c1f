"""The paper's table of observed properties, derived from results by the rules of rules.json.

A clause compares a figure's interval with a threshold. If the whole interval meets it, the answer
is yes; if the whole interval fails it, the answer is no; if the threshold lies within the interval,
or there is no interval, there is not enough evidence. An algorithm has a property if every clause
says yes, and does not have it if one clause says no.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from bell_bench.errors import UsageError, unknown
from bell_bench.files import parse_json, read_json
from bell_bench_leaderboard.boards import Board
from bell_bench_leaderboard.bootstrap import MeanEstimate
from bell_bench_leaderboard.compare import mean
from bell_bench_leaderboard.grids import Grid, Value, value

YES, NO, UNKNOWN = "yes", "no", "not enough evidence"
FIGURES = {
    "A": "A",
    "A_gain": "A − sa",
    "F": "F",
    "Tr_last": "Tr⁻¹",
    "backward": "first problem, end − learnt",
    "flops_growth": "FLOPs, last third ÷ first, over sa's",
    "memory_growth": "peak memory, last third ÷ first",
}
"""The figures that a rule may use."""
UNSIGNED = ("A", "flops_growth", "memory_growth")
"""The figures that are not differences; they are printed without a sign."""
DIRECTIONS = ("above", "below")
EVERY = "*"


@dataclass(frozen=True)
class Clause:
    """A figure, the sequences that it is averaged over, and the threshold that its interval must
    meet."""

    figure: str
    sequences: Mapping[str, Sequence[str]]
    """The sequences by suite; ``*`` stands for every suite, and for every short sequence."""
    direction: str
    threshold: float

    def __str__(self) -> str:
        sign = "≥" if self.direction == "above" else "≤"
        return f"{FIGURES[self.figure]} {sign} {self.threshold:g}"

    @property
    def signed(self) -> bool:
        """Whether the figure is a difference."""
        return self.figure not in UNSIGNED

    def asked(self, board: Board) -> list[str] | None:
        """Return the sequences to look at; None if the rule does not cover the board's suite."""
        found = self.sequences.get(board.settings["suite"], self.sequences.get(EVERY))
        if found is None:
            return None
        return board.averaged if EVERY in found else list(found)


@dataclass(frozen=True)
class Rule:
    """A property, what it means, and the clauses that decide it."""

    name: str
    says: str
    clauses: tuple[Clause, ...]

    def speaks_of(self, suite: str) -> bool:
        """Return whether some clause has sequences of the suite."""
        return any({suite, EVERY} & clause.sequences.keys() for clause in self.clauses)


@dataclass(frozen=True)
class ClauseFinding:
    """One clause decided for one algorithm: the figure with its interval, the verdict and the
    reason."""

    clause: Clause
    sequences: tuple[str, ...]
    estimate: MeanEstimate | None
    verdict: str
    reason: str


@dataclass(frozen=True)
class PropertyVerdict:
    """Whether one algorithm has one property, and what decided it."""

    rule: Rule
    algorithm: str
    verdict: str
    findings: tuple[ClauseFinding, ...]


def read_rules(file: pathlib.Path | None = None, tuned: Iterable[str] = ()) -> list[Rule]:
    """Return our rules or those of a file, with the changes that ``tuned`` asks for as
    ``property.field=value``."""
    try:
        own = resources.files("bell_bench_leaderboard").joinpath("rules.json")
        found = parse_json(own.read_bytes()) if file is None else read_json(file)
        rules = {name: _rule(name, content) for name, content in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UsageError(
            f"{file} is not a file of rules ({error!r}): docs/leaderboard.md describes the form"
        ) from error
    for change in tuned:
        name, field, content = _change(change, rules)
        clauses = tuple(_checked(replace(each, **{field: content})) for each in rules[name].clauses)
        rules[name] = replace(rules[name], clauses=clauses)
    return list(rules.values())


def _rule(name: str, content: Mapping[str, Any]) -> Rule:
    clauses = tuple(_checked(Clause(**clause)) for clause in content["clauses"])
    if not clauses:
        raise ValueError(f"{name} has no clauses")
    return Rule(name, str(content["says"]), clauses)


def _checked(clause: Clause) -> Clause:
    if clause.figure not in FIGURES:
        raise unknown("figure of a rule", clause.figure, FIGURES)
    if clause.direction not in DIRECTIONS:
        raise unknown("direction of a rule", clause.direction, DIRECTIONS)
    threshold = float(clause.threshold)
    if not math.isfinite(threshold):
        raise UsageError(f"the threshold of a rule must be a finite number, not {threshold}")
    return replace(clause, threshold=threshold)


def _change(text: str, rules: Mapping[str, Rule]) -> tuple[str, str, Any]:
    place, equals, content = text.partition("=")
    name, dot, field = place.rpartition(".")
    if not equals or not dot:
        raise UsageError(
            f"--rule {text!r}: write PROPERTY.FIELD=VALUE, for example latent.threshold=2"
        )
    if name not in rules:
        raise unknown("property", name, rules)
    if field not in ("threshold", "direction", "figure"):
        raise unknown("field of a rule", field, ("threshold", "direction", "figure"))
    try:
        return name, field, float(content) if field == "threshold" else content
    except ValueError:
        raise UsageError(f"--rule {text!r}: {content!r} is not a number") from None


def verdicts(board: Board, rules: Iterable[Rule]) -> list[PropertyVerdict]:
    """Return a verdict for every property and algorithm. Properties that the suite does not test
    are left out."""
    found = []
    for rule in rules:
        if not rule.speaks_of(board.settings["suite"]):
            continue
        for name in board.algorithms:
            findings = tuple(
                _decide(board, name, clause, asked)
                for clause in rule.clauses
                if (asked := clause.asked(board)) is not None
            )
            found.append(PropertyVerdict(rule, name, _combined(findings), findings))
    return found


def _combined(findings: Sequence[ClauseFinding]) -> str:
    """Return what several findings decide together."""
    each = {finding.verdict for finding in findings}
    if NO in each:
        return NO
    return YES if each == {YES} else UNKNOWN


def _decide(board: Board, name: str, clause: Clause, asked: Sequence[str]) -> ClauseFinding:
    lacking = _lacking(board, name, asked)
    found = None if lacking else mean(board, clause.figure, name, asked)
    if found is None:
        reason = lacking or f"{FIGURES[clause.figure]} is not known: it may need sa's run"
        return ClauseFinding(clause, tuple(asked), None, UNKNOWN, reason)
    if found.interval is None:
        return ClauseFinding(clause, tuple(asked), found, UNKNOWN, "one realisation: no interval")
    low, high = found.interval
    if clause.direction == "below":
        beyond, short = high <= clause.threshold, low > clause.threshold
    else:
        beyond, short = low >= clause.threshold, high < clause.threshold
    verdict = YES if beyond else NO if short else UNKNOWN
    why = {YES: "the whole interval does", NO: "all of the interval fails it"}
    return ClauseFinding(
        clause, tuple(asked), found, verdict, why.get(verdict, "the interval holds both")
    )


def _lacking(board: Board, name: str, asked: Sequence[str]) -> str:
    """Return which of the sequences were not run to their end, and why; empty if all were."""
    faults = []
    for sequence in asked:
        cell = board.cells.get((sequence, name))
        status = "not run" if cell is None else cell.status
        faults += [f"{sequence}: {status}"] if status else []
    return ", ".join(faults)


def property_grids(board: Board, rules: Iterable[Rule]) -> list[Grid]:
    """Return two tables: properties × algorithms, and every figure with the rule that it was judged
    by."""
    found = verdicts(board, rules)
    names = list(dict.fromkeys(verdict.rule.name for verdict in found))
    by_place = {(verdict.rule.name, verdict.algorithm): verdict.verdict for verdict in found}
    table = Grid(
        f"observed properties: {board.title}",
        ["property", *board.algorithms],
        [[Value(name), *(Value(_brief(by_place[name, algorithm]))
                         for algorithm in board.algorithms)] for name in names],
        ["?: not enough evidence"],
    )  # fmt: skip
    return [table, _details(found)]


def _brief(verdict: str) -> str:
    return "?" if verdict == UNKNOWN else verdict


def _details(found: Sequence[PropertyVerdict]) -> Grid:
    rows = [
        [Value(verdict.rule.name), Value(verdict.algorithm), Value(", ".join(finding.sequences)),
         Value(str(finding.clause)),
         value(finding.estimate, "{:+.2f}" if finding.clause.signed else "{:.2f}"),
         Value(finding.verdict), Value(finding.reason)]
        for verdict in found
        for finding in verdict.findings
    ]  # fmt: skip
    header = ["property", "algorithm", "sequences", "rule", "figure", "verdict", "why"]
    return Grid("what decided", header, rows, names=4, sentences=2)
