"""The base of our types: to and from plain JSON, and with subscripts as in old releases."""

from __future__ import annotations

import re
import reprlib
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

T = TypeVar("T", bound="JsonStruct")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
"""Of the places that msgspec names: a field, an entry's number, or some entry of a mapping."""
_ELSEWHERE = object()


class JsonStruct(msgspec.Struct, frozen=True, kw_only=True):
    """A typed JSON object. Reading drops unknown fields and refuses values of a wrong type."""

    @classmethod
    def from_json(cls: type[T], content: Any) -> T:
        """Return the object; raise ValueError, which names the field, if it does not fit."""
        try:
            return msgspec.convert(content, cls)
        except msgspec.ValidationError as error:
            raise ValueError(_told(str(error), content)) from error

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        return content

    def __getitem__(self, name: str) -> Any:
        """Return the value of a field, as when records were mappings; use the attribute instead."""
        warnings.warn(
            f"{type(self).__name__}[{name!r}] is written {type(self).__name__}.{name} now",
            DeprecationWarning,
            stacklevel=2,
        )
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None

    def keys(self) -> tuple[str, ...]:
        """The names of the fields, so that ``dict(record)`` is what it was; use ``to_json``."""
        return self.__struct_fields__

    def __iter__(self) -> Iterator[str]:
        """As ``keys``: else Python would ask for the entries 0, 1, …"""
        return iter(self.keys())

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a field, or a default; use the attribute instead."""
        warnings.warn(
            f"{type(self).__name__}.get({name!r}) is written {type(self).__name__}.{name} now",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(self, name, default)


def _told(complaint: str, content: Any) -> str:
    """msgspec's complaint with the place first and what is there: ``job.seed: expected `int` >= 0,
    found -1``."""
    what, at, where = complaint.rpartition(" - at `$")
    what, where = (what, where.removesuffix("`")) if at else (complaint, "")
    if field := _FIELD.fullmatch(what):
        kind, name = field.groups()
        where, what = (
            f"{where}.{name}",
            "missing" if kind.startswith("missing") else "unknown field",
        )
    elif what.startswith("Expected"):
        found = _at(content, where)
        if found is None or isinstance(found, str | int | float):
            what = f"{what.partition(', got ')[0]}, found {_brief(found)}"
        what = f"e{what[1:]}"
    return f"{where.lstrip('.')}: {what}" if where else what


def _at(content: Any, where: str) -> Any:
    """What is at a place; ``_ELSEWHERE`` if msgspec does not tell which entry it means."""
    for name, number in _STEP.findall(where):
        if number == "...":
            return _ELSEWHERE
        content = content[int(number) if number else name]
    return content


def _brief(found: str | float | None) -> str:
    long = isinstance(found, str) and len(found) > reprlib.aRepr.maxstring
    return reprlib.repr(found) + (f" of {len(str(found)):,} characters" if long else "")


def without_none(content: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the content without the named entries that are None."""
    return {
        name: value for name, value in content.items() if value is not None or name not in names
    }
