"""Small rules for JSON values, put together to a schema. Each names all that is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bell_bench_leaderboard.submission.refused import shown

Rule = Callable[[Any, str], Iterator[str]]
"""From a value and its name to the complaints about it."""


def anything(value: Any, where: str) -> Iterator[str]:
    yield from ()


def text(limit: int = 300, pattern: str = r"(?s:.*)") -> Rule:
    def rule(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield f"{where} is {shown(value)}, not text"
        elif len(value) > limit:
            yield f"{where} has {len(value):,} characters, more than {limit:,}"
        elif not re.fullmatch(pattern, value):
            yield f"{where} is {shown(value)!r}, which does not match {pattern}"

    return rule


def number(low: float, high: float, kind: type = float) -> Rule:
    """A number from ``low`` to ``high``; with ``kind=int`` a whole one."""

    def rule(value: Any, where: str) -> Iterator[str]:
        right = isinstance(value, int if kind is int else int | float)
        if not right or isinstance(value, bool):
            yield f"{where} is {shown(value)}, not a{' whole' if kind is int else ''} number"
        elif not low <= value <= high:
            yield f"{where} is {value:g}, not from {low:g} to {high:g}"

    return rule


def one_of(*values: Any) -> Rule:
    def rule(value: Any, where: str) -> Iterator[str]:
        if isinstance(value, bool) or value not in values:
            yield f"{where} is {shown(value)}, not {' or '.join(map(str, values))}"

    return rule


def optional(rule: Rule) -> Rule:
    def either(value: Any, where: str) -> Iterator[str]:
        if value is not None:
            yield from rule(value, where)

    return either


def each(rule: Rule, most: int) -> Rule:
    """A list of at most ``most`` values."""

    def every(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{where} is {shown(value)}, not a list"
        elif len(value) > most:
            yield f"{where} has {len(value):,} entries, more than {most:,}"
        else:
            for index, part in enumerate(value):
                yield from rule(part, f"{where}[{index}]")

    return every


def by_name(rule: Rule, name: str, most: int) -> Rule:
    """A mapping whose keys match ``name``."""

    def every(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where} is {shown(value)}, not a mapping"
        elif len(value) > most:
            yield f"{where} has {len(value):,} entries, more than {most:,}"
        else:
            for key, part in value.items():
                if not re.fullmatch(name, key):
                    yield f"{where} has the name {shown(key)!r}, which does not match {name}"
                yield from rule(part, f"{where}.{shown(key)}")

    return every


def fields(
    required: Mapping[str, Rule], more: Mapping[str, Rule] | None = None, *, others: bool = False
) -> Rule:
    """A mapping with these names, perhaps some ``more``, and only with ``others`` any other."""
    known = {**required, **(more or {})}

    def rule(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where} is {shown(value)}, not a mapping"
            return
        for name in required:
            if name not in value:
                yield f"{where}.{name} is missing"
        for name, part in value.items():
            if name in known:
                yield from known[name](part, f"{where}.{name}")
            elif not others:
                yield f"{where} has an unknown field {shown(name)!r}"

    return rule
