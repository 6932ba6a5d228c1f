"""The file of claims: what the paper says, the runs that can decide it, and its printed tables.

``claims.json`` has ``parts`` (the jobs and ablations of each), ``groups`` (sequences under one
name), ``tables`` (as printed) and ``claims``. Any file of that form can be used
(docs/reproduction.md).
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from bell_bench.errors import UsageError, unknown
from bell_bench.files import parse_json, read_json
from bell_bench_leaderboard.properties import EVERY, FIGURES, Rule, read_rules
from bell_bench_paper.claims.ablations import ABLATIONS, COUNTED
from bell_bench_paper.claims.regions import RULES, Region

STANDALONE = "sa"
"""The algorithm that others are compared with."""
PROPERTY = "property"
"""The rule of claims about the table of properties; their regions are those of rules.json."""


@dataclass(frozen=True)
class Runs:
    """Jobs that a part needs: algorithms × sequences × realisations."""

    suite: str
    protocol: str
    sequences: tuple[str, ...]
    algorithms: tuple[str, ...]
    realisations: tuple[int, ...]
    only_given: bool = False
    """Whether these jobs are never run, because they take too long, and count only where they are
    already done."""


@dataclass(frozen=True)
class Part:
    """The runs that one word of the command line stands for."""

    name: str
    runs: tuple[Runs, ...]
    ablations: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """One sentence, row or number of the paper, and the rule that decides it."""

    id: str
    part: str
    source: str
    says: str
    rule: str
    figure: str
    of: tuple[str, ...]
    """The algorithms, or the methods of an ablation, that the claim is about."""
    suite: str
    """The suite, or the name of the ablation."""
    against: tuple[str, ...] = ()
    """What is subtracted: each of ``of`` minus each of these."""
    protocol: str = ""
    on: tuple[str, ...] = ()
    """The sequences that are averaged, or that a property needs; for ablations the N, or the number
    of paths evaluated."""
    each: bool = False
    """Whether the claim must hold on each of ``on``, without averaging."""
    settings: Mapping[str, float] = field(default_factory=dict)
    """Settings of the rule: margin, value, tolerance."""
    stated: float | None = None
    """The number in the sentence; None if it has none."""
    trait: str = ""
    """The property of rules.json that the claim is about, if any."""
    observed: bool = True
    """For a property: whether the paper has a tick."""
    note: str = ""

    @property
    def region(self) -> Region:
        return RULES[self.rule](**self.settings)


@dataclass(frozen=True)
class Table:
    """A printed table: one figure of several algorithms, by sequence and averaged."""

    source: str
    suite: str
    figure: str
    of: tuple[str, ...]
    rows: Mapping[str, Sequence[float | None]]
    over: tuple[str, ...]
    """The sequences of the table, which the average is over."""
    average: Sequence[float | None] | None = None

    def value(self, name: str, place: str) -> float | None:
        return self.rows[place][self.of.index(name)] if place in self.rows else None

    def mean(self, name: str) -> float | None:
        return None if self.average is None else self.average[self.of.index(name)]


@dataclass(frozen=True)
class Book:
    """The content of a file of claims."""

    title: str
    parts: Mapping[str, Part]
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]

    def published(self, suite: str, figure: str, name: str, on: Sequence[str]) -> float | None:
        """Return the printed average or value; if there is none, the mean or difference that
        follows from printed figures; else None."""
        tables = [
            table
            for table in self.tables
            if (table.suite, table.figure) == (suite, figure) and name in table.of
        ]
        means = [
            (len(table.over), mean)
            for table in tables
            if set(table.over) <= set(on) and (mean := table.mean(name)) is not None
        ]
        if on and sum(count for count, _ in means) == len(on):
            return sum(count * mean for count, mean in means) / len(on)
        single = [
            table.value(name, place) for place in on for table in tables if place in table.over
        ]
        known = [value for value in single if value is not None]
        if on and len(known) == len(on):
            return sum(known) / len(known)
        if figure == "A_gain":
            ours, theirs = (self.published(suite, "A", each, on) for each in (name, STANDALONE))
            return None if ours is None or theirs is None else ours - theirs
        return None


def read_book(file: pathlib.Path | None = None) -> Book:
    """Return our claims, or those of another file of the same form."""
    try:
        own = resources.files(__package__).joinpath("claims.json")
        return _book(parse_json(own.read_bytes()) if file is None else read_json(file))
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UsageError(
            f"{file} is not a file of claims ({error!r}): docs/reproduction.md describes the form"
        ) from error


def _book(content: Mapping[str, Any]) -> Book:
    groups = {name: tuple(places) for name, places in content.get("groups", {}).items()}
    parts = {name: _part(name, each, groups) for name, each in content["parts"].items()}
    tables = tuple(_table(each, groups) for each in content.get("tables", ()))
    properties = read_rules()
    claims = [
        _checked(claim, parts, properties)
        for each in content["claims"]
        for claim in _expanded(each, groups)
    ]
    ids = [claim.id for claim in claims]
    if twice := {name for name in ids if ids.count(name) > 1}:
        raise ValueError(f"several claims have the id {', '.join(sorted(twice))}")
    return Book(str(content["title"]), parts, tables, tuple(claims))


def _places(asked: str | Iterable[str], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the sequences: those named, or those of a group."""
    if not isinstance(asked, str):
        return tuple(map(str, asked))
    if asked not in groups:
        raise unknown("group of sequences", asked, groups)
    return groups[asked]


def _table(content: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]]) -> Table:
    rows = content.get("rows", {})
    over = _places(content.get("over", tuple(rows)), groups)
    source, suite, figure = (content[name] for name in ("source", "suite", "figure"))
    table = Table(source, suite, figure, tuple(content["of"]), rows, over, content.get("average"))
    for values in [*rows.values(), *([table.average] if table.average is not None else [])]:
        if len(values) != len(table.of):
            raise ValueError(f"{table.source}, {table.figure}: {values} for {table.of}")
    return table


def _part(name: str, content: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]]) -> Part:
    runs = tuple(
        Runs(each["suite"], each["protocol"], _places(each["sequences"], groups),
             tuple(each["algorithms"]), tuple(each["realisations"]), each.get("only_given", False))
        for each in content.get("runs", ())
    )  # fmt: skip
    ablations = tuple(content.get("ablations", ()))
    for ablation in ablations:
        if ablation not in ABLATIONS:
            raise unknown("ablation", ablation, ABLATIONS)
    return Part(name, runs, ablations)


def _expanded(content: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]]) -> list[Claim]:
    """Return one claim per protocol named, and per algorithm of a row of the table of
    properties."""
    given = dict(content)
    ablation = given.pop("ablation", "")
    if ablation and ablation not in ABLATIONS:
        raise unknown("ablation", ablation, ABLATIONS)
    protocols = given.pop("protocols", [""] if ablation else ["paper"])
    observed = given.pop("observed", None)
    trait = given.pop("property", "")
    given["suite"] = ablation or given["suite"]
    given["on"] = _places(given.get("on", ()), groups)
    for name in ("of", "against"):
        given[name] = tuple(given.get(name, ()))
    found = []
    for protocol in protocols:
        suffix = f"-{protocol}" if len(protocols) > 1 else ""
        claim = {**given, "protocol": protocol, "trait": trait, "id": f"{given['id']}{suffix}"}
        if observed is None:
            found.append(Claim(**claim))
        for name, tick in (observed or {}).items():
            says = f"{name} {'has' if tick else 'does not have'} the property {trait}"
            found.append(Claim(**{"says": says, **claim, "id": f"{claim['id']}-{name}",
                                  "rule": PROPERTY, "figure": "", "of": (name,),
                                  "observed": tick}))  # fmt: skip
    return found


def _checked(claim: Claim, parts: Mapping[str, Part], properties: Sequence[Rule]) -> Claim:
    """Return the claim if every name in it is known; a claim about a property gets the sequences
    that it needs."""
    words: list[tuple[str, str, Iterable[str]]] = [
        ("part", claim.part, parts),
        ("rule", claim.rule, [*RULES, PROPERTY]),
    ]
    if claim.rule == PROPERTY:
        tested = [each.name for each in properties if each.speaks_of(claim.suite)]
        words.append(("property", claim.trait, tested))
    else:
        words.append(("figure", claim.figure, ABLATIONS.get(claim.suite, FIGURES)))
    for kind, word, known in words:
        if word not in known:
            raise unknown(f"{kind} of claim {claim.id}", word, known)
    if not claim.of:
        raise ValueError(
            f"claim {claim.id} names no algorithm or method: give one in its field `of`"
        )
    if claim.figure == COUNTED and not all(place.isdecimal() and int(place) for place in claim.on):
        raise ValueError(f"claim {claim.id} is on {claim.on}, not on numbers of paths")
    if claim.rule == PROPERTY:
        [rule] = [each for each in properties if each.name == claim.trait]
        return replace(claim, on=_needed(claim, parts[claim.part], rule))
    try:
        claim.region.place(0.0, 0.0)  # fails if a setting is not the rule's or not a number
    except TypeError as error:
        raise ValueError(f"settings of claim {claim.id}: {error}") from error
    return claim


def _needed(claim: Claim, part: Part, rule: Rule) -> tuple[str, ...]:
    """Return the sequences of a property's clauses; ``*`` stands for all that the claim's part
    runs."""
    named = {
        name
        for clause in rule.clauses
        for name in clause.sequences.get(claim.suite, clause.sequences.get(EVERY, ()))
    }
    run = [
        name
        for runs in part.runs
        if (runs.suite, runs.protocol) == (claim.suite, claim.protocol)
        for name in runs.sequences
    ]
    return tuple(dict.fromkeys(run) if EVERY in named else sorted(named))
