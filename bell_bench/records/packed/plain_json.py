"""Read JSON from strangers: bounded, finite, without repeated keys."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from bell_bench.records.packed.refused import Refused, shown

DEPTH = 40
DIGITS = 30

Way = tuple[str | int, ...]
"""The keys and indices that lead to a part of a value."""


def read_json(content: bytes) -> Any:
    """Return the value, made of dicts, lists, text and finite numbers, at most ``DEPTH`` deep."""
    try:
        value = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_float,
        )
    except (ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"it is not JSON that can be read: {shown(str(error))}") from error
    for _, part in walk(value):
        if isinstance(part, str) and any("\ud800" <= c <= "\udfff" for c in part):
            raise Refused("it holds text that is not Unicode")
    return value


def walk(value: Any) -> Iterator[tuple[Way, Any]]:
    """Yield each part of a JSON value, keys included, with the way to it; refuse deep nesting."""
    yield (), value
    waiting = [_parts((), value)]
    while waiting:
        for way, part in waiting[-1]:
            yield way, part
            if isinstance(part, dict | list):
                waiting.append(_parts(way, part))
                break
        else:
            waiting.pop()
        if len(waiting) > DEPTH:
            raise Refused(f"it is nested more than {DEPTH} levels deep")


def _parts(way: Way, value: Any) -> Iterator[tuple[Way, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*way, key), key
            yield (*way, key), part
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield (*way, index), part


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"a number has {len(text):,} digits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number
