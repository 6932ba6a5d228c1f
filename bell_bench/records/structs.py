"""The base of our types: to and from plain JSON, and with subscripts as in old releases."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

T = TypeVar("T", bound="JsonStruct")


class JsonStruct(msgspec.Struct, frozen=True, kw_only=True):
    """A typed JSON object. Reading drops unknown fields and refuses values of a wrong type."""

    @classmethod
    def from_json(cls: type[T], content: Any) -> T:
        """Return the object; raise ValueError, which names the field, if it does not fit."""
        try:
            return msgspec.convert(content, cls)
        except msgspec.ValidationError as error:
            raise ValueError(_told(str(error))) from error

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

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a field, or a default; use the attribute instead."""
        warnings.warn(
            f"{type(self).__name__}.get({name!r}) is written {type(self).__name__}.{name} now",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(self, name, default)


def _told(complaint: str) -> str:
    """Return msgspec's complaint with the place first: ``job.seed: expected `int` >= 0``."""
    what, _, where = complaint.removesuffix("`").partition(" - at `$")
    return f"{where.lstrip('.')}: {what[0].lower()}{what[1:]}" if where else complaint


def without_none(content: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the content without the named entries that are None."""
    return {
        name: value for name, value in content.items() if value is not None or name not in names
    }
