"""List what there is, by kind: each kind as a list of rows, of all suites or of one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bell_bench.errors import unknown
from bell_bench.harness.executors import LOCAL
from bell_bench.import_strings import load_object
from bell_bench.plugins import OURS, Provided, registry
from bell_bench.specs import AlgorithmFamilySpec, ExecutorSpec, SuiteSpec
from bell_bench.suites.base import fields_of

if TYPE_CHECKING:
    from bell_bench.suites.base import Suite

Row = dict[str, Any]


def each_suite(only: str | None = None) -> Iterator[tuple[Provided[SuiteSpec], Suite]]:
    """Yield suites with their providers; name a suite that does not load on stderr, and omit it."""
    if only is not None:
        registry().suite(only)  # an unknown or broken suite that was asked for is an error
    for provided in registry().suites:
        if only not in (None, provided.spec.name, provided.qualified):
            continue
        try:
            suite = registry().suite(provided.qualified)
        except Exception as error:
            print(f"warning: {error}", file=sys.stderr)
        else:
            yield provided, suite


def algorithms(suite: str | None) -> list[Row]:
    """List algorithms by the names that select them: all, or those that support this suite."""
    every = registry().algorithms
    names = [provided.spec.name for provided in every]
    if suite is not None:
        registry().suite(suite)
        suite = suite.rpartition(":")[2]
    return [
        {
            "name": p.spec.name if names.count(p.spec.name) == 1 else p.qualified,
            "summary": p.spec.summary,
            "paper": p.spec.paper,
            "suites": list(p.spec.suites),
            "options": sorted(p.spec.options),
            "distribution": p.distribution,
            "version": p.version,
        }
        for p in every
        if suite is None or not p.spec.suites or suite in p.spec.suites
    ]


def families(only: str | None) -> list[Row]:
    """List families of algorithms that other libraries define."""
    return [
        {
            "name": f"{provided.spec.name}:NAME",
            "summary": f"{provided.spec.summary}; `bell-bench list {provided.spec.name}`",
            "distribution": provided.distribution,
        }
        for provided in registry().every(AlgorithmFamilySpec)
        if provided.spec.members
    ]


def members(family: str) -> list[Row]:
    """List the algorithms of a family, and why some do not run here."""
    spec = registry().named(AlgorithmFamilySpec, family).spec
    return [
        {
            **row,
            "supported": not row["reason"],
            "says": f"no: {row['reason']}" if row["reason"] else row["summary"],
        }
        for row in load_object(spec.members)()
    ]


def executors(only: str | None) -> list[Row]:
    """List where jobs may run."""
    return [
        {"name": name, "summary": summary, "distribution": distribution}
        for name, summary, distribution in [
            (LOCAL, "processes on this machine", OURS),
            *((each.spec.name, each.spec.summary, each.distribution)
              for each in registry().every(ExecutorSpec)),
        ]
    ]  # fmt: skip


def sequences(only: str | None) -> list[Row]:
    """List sequences, each with what it tests."""
    return [
        {
            "suite": provided.spec.name,
            "name": info.name,
            "length": info.length,
            "tests": info.tests,
            "summary": info.summary,
            "short": info.short,
        }
        for provided, suite in each_suite(only)
        for info in suite.sequences.values()
    ]


def suites(only: str | None) -> list[Row]:
    """List suites, each with its provider."""
    return [
        {
            "name": provided.spec.name,
            "version": suite.version,
            "sequences": len(suite.sequences),
            "summary": provided.spec.summary,
            "distribution": provided.distribution,
            "distribution_version": provided.version,
        }
        for provided, suite in each_suite(only)
    ]


def data(only: str | None) -> list[Row]:
    """List sources of images by suite, and the domains of plugins."""
    sources = [
        {"kind": "source", "suite": provided.spec.name, "name": name, "summary": summary}
        for provided, suite in each_suite(only)
        for name, summary in suite.sources.items()
    ]
    domains = [
        {"kind": "domain", "suite": None, "name": p.spec.name, "summary": p.spec.summary}
        for p in registry().domains
    ]
    return sources + domains


def presets(attribute: str) -> Callable[[str | None], list[Row]]:
    """Return a function that lists ``scales`` or ``protocols``, each with its settings."""

    def rows(only: str | None) -> list[Row]:
        return [
            {"suite": provided.spec.name, "name": name, "summary": summary, "settings": settings}
            for provided, suite in each_suite(only)
            for name, summary, settings in _summarised(getattr(suite, attribute))
        ]

    return rows


def _summarised(presets: Mapping[str, object]) -> Iterator[tuple[str, str, Row]]:
    """Yield each preset's name, its summary or difference from the default, and its settings."""
    default: Row = {}
    for name, preset in presets.items():
        settings = fields_of(preset)
        settings.pop("name", None)
        summary = settings.pop("summary", "")
        default = default or settings
        if not summary and settings is default:
            summary = "the default"
        elif not summary:
            changed = [key for key, value in settings.items() if default.get(key) != value]
            summary = f"differs from {next(iter(presets))} in {', '.join(changed)}"
        yield name, summary, settings


KINDS: dict[str, Callable[[str | None], list[Row]]] = {
    "algorithms": algorithms,
    "sequences": sequences,
    "suites": suites,
    "data": data,
    "scales": presets("scales"),
    "protocols": presets("protocols"),
    "families": families,
    "executors": executors,
}


def listed(kind: str, suite: str | None) -> list[Row]:
    """Return the rows of a kind, or the members of a family if a family is named."""
    if kind in registry().families:
        return members(kind)
    if kind not in KINDS:
        raise unknown("kind", kind, [*KINDS, *registry().families])
    return KINDS[kind](suite)
