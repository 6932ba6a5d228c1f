"""What there is, by kind: each a list of rows, of all suites or of one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bell_bench.plugins import Provided, registry
from bell_bench.specs import SuiteSpec
from bell_bench.suites.base import fields_of

if TYPE_CHECKING:
    from bell_bench.suites.base import Suite

Row = dict[str, Any]


def each_suite(only: str | None = None) -> Iterator[tuple[Provided[SuiteSpec], Suite]]:
    """The suites with their providers; one that does not load is named on stderr and left out."""
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
    """By the names that pick them, for all suites or those that know this one."""
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


def strategies(only: str | None) -> list[Row]:
    """Avalanche's, the supported ones first."""
    from bell_bench_avalanche.catalogue import FAMILY, strategies

    return [
        {
            "name": f"{FAMILY}:{strategy.name}",
            "supported": not strategy.reason,
            "summary": strategy.summary,
            "reason": strategy.reason,
            "options": list(strategy.options),
            "says": f"no: {strategy.reason}" if strategy.reason else strategy.summary,
        }
        for strategy in sorted(strategies().values(), key=lambda row: bool(row.reason))
    ]


def sequences(only: str | None) -> list[Row]:
    """Each with what it tests."""
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
    """Each with who provides it."""
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
    """Sources of images by suite, and the domains of plugins."""
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
    """A listing of ``scales`` or ``protocols``, each with its settings."""

    def rows(only: str | None) -> list[Row]:
        return [
            {"suite": provided.spec.name, "name": name, "summary": summary, "settings": settings}
            for provided, suite in each_suite(only)
            for name, summary, settings in _summarised(getattr(suite, attribute))
        ]

    return rows


def _summarised(presets: Mapping[str, object]) -> Iterator[tuple[str, str, Row]]:
    """Each preset's name, its summary or how it differs from the default, and its settings."""
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
    "avalanche": strategies,
}
