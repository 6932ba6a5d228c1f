"""The output of a reproduction: verdicts, the paper's tables beside ours, protocols side by
side."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bell_bench_leaderboard.grids import Grid, Value, number, value
from bell_bench_leaderboard.grids import to_markdown as grid_to_markdown
from bell_bench_leaderboard.properties import FIGURES
from bell_bench_leaderboard.rows import csv_cell
from bell_bench_paper.claims.claims import STANDALONE, Book, Table
from bell_bench_paper.claims.evidence import Evidence
from bell_bench_paper.claims.judging import VERDICTS, Judged, Quantity

COLUMNS = ("id", "part", "verdict", "says", "source", "suite", "protocol", "rule", "figure",
           "published", "measured", "low", "high", "n", "over", "decided_by", "why", "in_print",
           "note")  # fmt: skip

Place = tuple[tuple[str, ...], str]
"""The sequences that a row of a printed table is about, and the row's name."""


def claim_row(judged: Judged) -> dict[str, Any]:
    """Return one claim as plain data: the columns of the CSV, and every figure behind the
    verdict."""
    claim, decisive = judged.claim, judged.decisive
    return {
        **{name: getattr(claim, name)
           for name in ("id", "part", "says", "source", "suite", "protocol", "note")},
        "verdict": judged.verdict,
        "rule": judged.rule,
        "figure": decisive.question.figure,
        "published": judged.published,
        **_measured(decisive),
        "decided_by": decisive.label if len(judged.quantities) > 1 else "",
        "why": judged.why,
        "in_print": judged.in_print,
        "figures": [
            {"label": each.label, "figure": each.question.figure, "published": each.published,
             "region": str(each.question.region), "place": each.place,
             "lacking": each.measured.lacking, **_measured(each)}
            for each in judged.quantities
        ],
    }  # fmt: skip


def _measured(quantity: Quantity) -> dict[str, Any]:
    found = quantity.measured.estimate
    if found is None:
        return dict.fromkeys(("measured", "low", "high", "n", "over"))
    return {"measured": found.mean, "low": found.low, "high": found.high, "n": found.n,
            "over": quantity.measured.over}  # fmt: skip


def counts(judged: Iterable[Judged]) -> dict[str, int]:
    """Return how many claims have each verdict."""
    verdicts = [each.verdict for each in judged]
    return {name: verdicts.count(name) for name in VERDICTS}


def to_csv(judged: Iterable[Judged]) -> str:
    """Return the verdicts as CSV, one line per claim."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for each in judged:
        writer.writerow({name: csv_cell(entry) for name, entry in claim_row(each).items()})
    return text.getvalue()


def verdict_grid(judged: Sequence[Judged], part: str) -> Grid:
    """Return a table of a part's claims, one row each."""
    rows = [
        [Value(each.claim.id), Value(each.verdict), Value(plain(each.published)),
         measured(each.decisive), Value(each.claim.says), Value(each.claim.source),
         Value(each.rule), Value(reason(each))]
        for each in judged
        if each.claim.part == part
    ]  # fmt: skip
    header = ["claim", "verdict", "published", "measured", "the paper says", "where", "rule", "why"]
    return Grid(f"claims: {part}", header, rows, names=2, sentences=4)


def measured(quantity: Quantity) -> Value:
    """Return the measured figure with its interval as a cell."""
    return value(quantity.measured.estimate, "{:.2f}")


def plain(amount: float | None) -> str:
    """Return a printed number as text; a dash if there is none."""
    return "–" if amount is None else number(amount, "{:.2f}")


def reason(judged: Judged) -> str:
    """Return why the verdict was given, which figure decided it, and what else to know."""
    parts = [judged.why]
    if len(judged.quantities) > 1:
        parts[0] += f" ({judged.decisive.label})"
    if judged.decisive.measured.over != "realisations":
        parts.append(f"interval over {judged.decisive.measured.over}")
    found = judged.decisive.measured.estimate
    if found is not None and found.interval is not None and found.low == found.high:
        parts.append("all gave the same figure")
    if judged.in_print is not None and judged.in_print != VERDICTS[0]:
        parts.append("the paper's own figures contradict it")
    return "; ".join([*parts, *([judged.claim.note] if judged.claim.note else [])])


def paper_grids(evidence: Evidence, parts: Iterable[str]) -> list[Grid]:
    """Return the rows of printed tables that these parts are about, with our figures below the
    printed ones."""
    book = evidence.book
    ours: dict[str, set[str]] = {}
    for name in parts:
        for runs in book.parts[name].runs:
            ours.setdefault(runs.suite, set()).update(runs.sequences)
    shown: dict[tuple[str, str], list[tuple[Table, list[Place]]]] = {}
    for table in book.tables:
        run = ours.get(table.suite, set())
        if places := [place for place in _places(table) if run.issuperset(place[0])]:
            shown.setdefault((table.source, table.suite), []).append((table, places))
    return [_paper_grid(evidence, source, tables) for (source, _), tables in shown.items()]


def _places(table: Table) -> list[Place]:
    """Return the rows of a printed table: its sequences, and their average."""
    rows: list[Place] = [((place,), place) for place in table.rows]
    average = (table.over, f"Avg. of {len(table.over)}")
    return [*rows, *([average] if table.average is not None else [])]


def _paper_grid(
    evidence: Evidence, source: str, tables: Sequence[tuple[Table, list[Place]]]
) -> Grid:
    """Return a table with two rows, published and measured, for each printed row. Our runs are
    those under the first protocol that the parts name."""
    rows: list[list[Value]] = []
    rules = []
    for table, places in tables:
        rules.append(len(rows))
        for on, label in places:
            printed = [
                table.mean(name) if label not in table.rows else table.value(name, label)
                for name in table.of
            ]
            found = [_estimate(evidence, table.suite, "", table.figure, name, on)
                     for name in table.of]  # fmt: skip
            title = Value(FIGURES[table.figure])
            rows += [[title, Value(label), Value("published"), *(Value(plain(x)) for x in printed)],
                     [Value(""), Value(""), Value("measured"), *found]]  # fmt: skip
    return Grid(
        f"{source}, {tables[0][0].suite}: published and measured",
        ["", "sequence", "", *tables[0][0].of],
        rows,
        names=3,
        rules=rules[1:],
    )


def _estimate(
    evidence: Evidence, suite: str, protocol: str, figure: str, name: str, on: Sequence[str]
) -> Value:
    protocol = protocol or protocols(evidence.book, suite, on)[0]
    found = evidence.measure(suite, protocol, figure, name, on)
    return Value("–") if found.lacking else value(found.estimate, "{:.2f}")


def protocols(book: Book, suite: str, on: Iterable[str]) -> list[str]:
    """Return the protocols under which the parts run these sequences."""
    asked = set(on)
    return list(dict.fromkeys(
        runs.protocol
        for part in book.parts.values()
        for runs in part.runs
        if runs.suite == suite and asked & set(runs.sequences)
    ))  # fmt: skip


def sensitivity_grid(evidence: Evidence, part: str) -> Grid | None:
    """Return the rows that another protocol changes: the printed figure, and the figure under each
    protocol; also averages over sequences that run together under one protocol. None if no sequence
    runs under several protocols."""
    named: dict[tuple[str, str], list[str]] = {}
    algorithms: dict[tuple[str, str], tuple[str, ...]] = {}
    for runs in evidence.book.parts[part].runs:
        for sequence in runs.sequences:
            named.setdefault((runs.suite, sequence), []).append(runs.protocol)
            algorithms[runs.suite, sequence] = runs.algorithms
    several = {place: found for place, found in named.items() if len(set(found)) > 1}
    if not several:
        return None
    header = list(dict.fromkeys(name for found in several.values() for name in found))
    places = [(suite, (sequence,), algorithms[suite, sequence]) for suite, sequence in several]
    places += [
        (runs.suite, runs.sequences, runs.algorithms)
        for runs in evidence.book.parts[part].runs
        if runs.protocol != header[0] and len(runs.sequences) > 1
    ]
    rows = [
        _sensitive(evidence, header, suite, figure, on, name)
        for figure in ("Tr_last", "A")
        for suite, on, names in places
        for name in names
        if (figure, name) != ("Tr_last", STANDALONE)
    ]
    return Grid(
        f"what the protocol changes: {part}",
        ["", "sequence", "algorithm", "published", *header, "difference"],
        rows,
        ["difference: of the means, last minus first; their problems differ, so nothing is paired"],
        names=3,
    )


def _sensitive(
    evidence: Evidence, header: Sequence[str], suite: str, figure: str, on: Sequence[str], name: str
) -> list[Value]:
    found = [evidence.measure(suite, protocol, figure, name, on) for protocol in header]
    means = [each.estimate.mean for each in found if each.estimate and not each.lacking]
    change = f"{means[-1] - means[0]:+.2f}" if len(means) == len(header) else "–"
    printed = evidence.book.published(suite, figure, name, on)
    cells = [_estimate(evidence, suite, protocol, figure, name, on) for protocol in header]
    where = on[0] if len(on) == 1 else f"Avg. of {len(on)}"
    return [Value(FIGURES[figure]), Value(where), Value(name), Value(plain(printed)), *cells,
            Value(change)]  # fmt: skip


def to_markdown(judged: Sequence[Judged], grids: Sequence[Grid], facts: Mapping[str, str]) -> str:
    """Return verdicts and tables as one page of Markdown."""
    lines = ["# The paper, claim by claim", ""]
    lines += [f"- {name}: {text}" for name, text in facts.items()]
    lines += [f"- {verdict}: {count}" for verdict, count in counts(judged).items()]
    parts = dict.fromkeys(each.claim.part for each in judged)
    tables = [*(verdict_grid(judged, part) for part in parts), *grids]
    return "\n".join([*lines, "", *map(grid_to_markdown, tables)])
