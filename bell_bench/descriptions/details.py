"""Describe an algorithm, a suite, a preset, a sequence or a domain."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bell_bench.descriptions.listings import each_suite
from bell_bench.errors import BellBenchError, UsageError, unknown
from bell_bench.options import show_value, type_name
from bell_bench.plugins import Provided, registry
from bell_bench.specs import AlgorithmSpec, SuiteSpec
from bell_bench.suites.base import fields_of
from bell_bench.text import brief, paragraph, table

if TYPE_CHECKING:
    from bell_bench.data.status import Status


@dataclass(frozen=True)
class Query:
    """What was asked for besides the name."""

    suite: str | None
    realisation: int | None
    seed: int | None
    scale: str | None
    protocol: str | None
    data: str | None


@dataclass(frozen=True, repr=False)
class Description:
    """The description of what a name stands for: as JSON, as text, perhaps as a picture."""

    facts: dict[str, Any]
    text: str
    draw: Callable[[pathlib.Path], None] | None = None

    def __repr__(self) -> str:
        return self.text


def find(name: str, query: Query) -> list[Description]:
    """Return everything that the name stands for; raise UsageError if it stands for nothing."""
    if query.seed is not None and query.realisation is not None:
        raise UsageError("give --seed or --realisation, not both")
    found = list(_meanings(name, query))
    if not found:
        raise unknown("name", name, _known(), "(see `bell-bench list`)")
    return found


def _meanings(name: str, query: Query) -> Iterator[Description]:
    """Yield everything that has the name."""
    distribution, _, bare = name.rpartition(":")
    algorithms = {provided.spec.name for provided in registry().algorithms}
    if distribution.endswith(".py") or distribution in registry().families or bare in algorithms:
        yield describe_algorithm(registry().algorithm(name))
    for provided, suite in each_suite(query.suite):
        if name in (provided.spec.name, provided.qualified):
            yield describe_suite(provided, suite)
        if name in suite.sequences:
            yield describe_sequence(suite, name, query)
        for kind in ("scale", "protocol"):
            presets = getattr(suite, f"{kind}s")
            if name in presets:
                yield describe_preset(kind, name, suite.name, presets[name])
    if name in domain_names():
        yield describe_domain(name, query)


def _known() -> Iterator[str]:
    yield from (provided.spec.name for provided in registry().algorithms)
    for provided, suite in each_suite():
        yield provided.spec.name
        for names in (suite.sequences, suite.scales, suite.protocols):
            yield from names
    yield from domain_names()


def describe_algorithm(provided: Provided[AlgorithmSpec]) -> Description:
    """Describe an algorithm: its paper, provider and options."""
    spec = provided.spec
    facts = {
        "algorithm": spec.name,
        "summary": spec.summary,
        "paper": spec.paper,
        "suites": list(spec.suites),
        "distribution": provided.distribution,
        "version": provided.version,
        "load": spec.load,
        "options": {
            name: {
                "type": option.type.__name__,
                "default": option.default,
                "help": option.help,
                "choices": list(option.choices),
                "optional": option.optional,
            }
            for name, option in spec.options.items()
        },
    }
    lines = [
        ("paper", spec.paper or "–"),
        ("provider", provided.provider),
        ("suites", ", ".join(spec.suites) or "all"),
        ("code", spec.load),
    ]
    options = [
        (f"{spec.name}.{name}", type_name(option), show_value(option.default), option.help)
        for name, option in spec.options.items()
    ]
    text = f"algorithm {spec.name}\n{paragraph(spec.summary, 2)}\n\n{table(lines)}\n"
    if options:
        text += f"\noptions:\n{table(options, ('option', 'type', 'default', 'help'))}\n\n"
        text += f"Set one with --option {options[0][0]}={options[0][2]}."
    else:
        text += "\nno options"
    return Description(facts, text)


def describe_suite(provided: Provided[SuiteSpec], suite: Any) -> Description:
    """Describe a suite: its sequences, scales, protocols and sources."""
    facts = {
        "suite": suite.name,
        "version": suite.version,
        "summary": provided.spec.summary,
        "distribution": provided.distribution,
        "distribution_version": provided.version,
        "sequences": {name: dataclasses.asdict(info) for name, info in suite.sequences.items()},
        "scales": {name: fields_of(scale) for name, scale in suite.scales.items()},
        "protocols": {name: fields_of(protocol) for name, protocol in suite.protocols.items()},
        "sources": dict(suite.sources),
    }
    rows = [(info.name, info.length, info.tests, info.summary) for info in suite.sequences.values()]
    names = [
        ("scales", ", ".join(suite.scales)),
        ("protocols", ", ".join(suite.protocols)),
        ("data", ", ".join(suite.sources)),
        ("version", suite.version),
        ("provider", provided.provider),
    ]
    text = (
        f"suite {suite.name}\n{paragraph(provided.spec.summary, 2)}\n\n{table(names)}\n\n"
        f"sequences:\n{table(rows, ('name', 'problems', 'tests', 'summary'))}"
    )
    return Description(facts, text)


def describe_preset(kind: str, name: str, suite: str, preset: object) -> Description:
    """Describe a scale or protocol: its fields, each with the help text of its dataclass."""
    settings = fields_of(preset)
    helps = {}
    if dataclasses.is_dataclass(preset):
        helps = {f.name: f.metadata.get("help", "") for f in dataclasses.fields(preset)}
    summary = settings.get("summary", "")
    rows = [
        (key, str(value) if isinstance(value, float) else brief(value), helps.get(key, ""))
        for key, value in settings.items()
        if key not in ("name", "summary")
    ]
    text = f"{kind} {name} of suite {suite}\n"
    text += f"{paragraph(summary, 2)}\n" if summary else ""
    return Description({kind: name, "suite": suite, **settings}, f"{text}\n{table(rows)}")


def describe_sequence(suite: Any, name: str, query: Query) -> Description:
    """Describe a sequence, as one of its realisations, problem by problem."""
    seed, realisation = query.seed, query.realisation
    if seed is None:
        realisation = realisation or 0
        seed = suite.realisation_seed(name, realisation)
    chosen = {
        "scale": query.scale or next(iter(suite.scales)),
        "protocol": query.protocol or next(iter(suite.protocols)),
        "data": query.data or next(iter(suite.sources)),
    }
    sequence = suite.sequence(name, seed=seed, **chosen)
    info = suite.sequences[name]
    facts = {
        "suite": suite.name,
        "sequence": name,
        "seed": seed,
        "realisation": realisation,
        **chosen,
        "tests": info.tests,
        "summary": info.summary,
        "problems": sequence.describe(),
    }
    return Description(facts, _sequence_text(facts), getattr(sequence, "picture", None))


_COLUMNS = {
    "name": "problem",
    "symbol": "kind",
    "points": "points",
    "images": "images",
    "coordinates": "coordinates",
    "validation": "validation",
    "test": "test",
    "space": "space",
    "classes": "classes",
    "modules": "modules",
    "shares": "shares",
}
"""The columns of a sequence's table, shown if its suite provides them."""


def _sequence_text(facts: dict[str, Any]) -> str:
    problems = facts["problems"]
    columns = [key for key in _COLUMNS if any(key in row for row in problems)]
    cells = {key: [_show_cell(row.get(key)) for row in problems] for key in columns}
    same = [key for key in columns if len(set(cells[key])) == 1 and key != "name"]
    varied = [key for key in columns if key not in same]
    rows = zip(range(1, len(problems) + 1), *(cells[key] for key in varied), strict=True)
    which = "" if facts["realisation"] is None else f"realisation {facts['realisation']}, "
    each = ", ".join(f"{_COLUMNS[key]} {cells[key][0]}" for key in same if cells[key][0])
    return (
        f"sequence {facts['sequence']} of suite {facts['suite']}: tests {facts['tests']}\n"
        f"{paragraph(facts['summary'], 2)}\n\n"
        f"{which}seed {facts['seed']}, scale {facts['scale']}, protocol {facts['protocol']}, "
        f"data {facts['data']}\n"
        f"{'every problem: ' + each if each else ''}\n\n"
        f"{table(rows, ('#', *(_COLUMNS[key] for key in varied)))}"
    )


def _show_cell(value: Any) -> Any:
    return brief(value) if isinstance(value, list | dict) else value


def domain_names() -> list[str]:
    """Of all sources, each once."""
    return list(dict.fromkeys(row.name for rows in _rows_by_source().values() for row in rows))


def _rows_by_source() -> dict[str, list[Status]]:
    """Return the domains of each source that works."""
    from bell_bench.data import sources
    from bell_bench.data.status import statuses

    found = {}
    for source in sources():
        with contextlib.suppress(BellBenchError):  # `doctor` tells what is wrong with it
            found[source] = statuses(source)
    return found


def describe_domain(name: str, query: Query) -> Description:
    """A domain as ``--data`` says, by default as the first source that has it."""
    from bell_bench.data import sources
    from bell_bench.data.declared import cut_of_imports, official_domains
    from bell_bench.data.sources import IMAGES, source_domains
    from bell_bench.data.status import statuses

    every = {query.data: statuses(query.data)} if query.data else _rows_by_source()
    found = {source: row for source, rows in every.items() for row in rows if row.name == name}
    if not found:
        raise UsageError(f"the data source {query.data} has no domain {name}")
    data, status = next(iter(found.items()))
    official = official_domains().get(name)
    if data == IMAGES:
        classes = (official.cut if official else cut_of_imports()).classes
    else:
        classes = source_domains(data)[name].classes
    facts = {"domain": name, "data": data, "classes": classes, **dataclasses.asdict(status)}
    lines = [
        ("data", f"{data} ({sources()[data]})"),
        ("classes", classes),
        ("status", f"{status.status}: {status.detail}"),
        ("source", status.source),
        ("licence", status.licence or "–"),
    ]

    def draw(file: pathlib.Path) -> None:
        from bell_bench.data import DomainSizes, load_domain
        from bell_bench.data.contact_sheet import draw_domain

        sizes = DomainSizes(train=100 * classes, validation=10 * classes, test=10 * classes)
        draw_domain(load_domain(name, data, sizes), data, file)

    return Description(facts, f"domain {name}\n\n{table(lines)}", draw)
