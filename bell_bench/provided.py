"""Who provides what: a spec, and the plugin and distribution that it comes from."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Generic, TypeVar

from bell_bench.errors import UsageError, unknown
from bell_bench.source_hash import edition
from bell_bench.specs import Spec

SpecT = TypeVar("SpecT", bound=Spec)

OURS = "bell-bench"
"""Our own distribution."""

LIMIT = "BELL_BENCH_PLUGINS"
"""The environment variable that names the entry points or distributions to load; empty: none."""


@dataclass(frozen=True)
class Provided(Generic[SpecT]):
    """A spec and who provides it."""

    spec: SpecT
    plugin: str
    """The entry point's name; ``file`` for a local file."""
    distribution: str
    """The distribution's name; for a local file, its path."""
    version: str
    """The distribution's version; for a local file, a hash of its content."""
    family: str = ""
    """The family that the algorithm belongs to, if it belongs to one."""

    @property
    def qualified(self) -> str:
        """The name that picks this provider among several."""
        return self.spec.name if self.family else f"{self.distribution}:{self.spec.name}"

    @property
    def ours(self) -> bool:
        """Whether our own distribution provides it."""
        return canonical(self.distribution) == OURS

    @property
    def provider(self) -> str:
        """The provider as jobs name it; another provider makes another job.

        An editable distribution gets a hash of its source, as its version says little. Ours does
        not: suites and training code have versions of their own.
        """
        versioned = self.plugin == "file" or self.family or self.ours
        source = "" if versioned else edition(self.distribution, self.spec.load)
        return f"{self.distribution} {self.version}{source}"


def pick(kind: str, name: str, provided: list[Provided[SpecT]]) -> Provided[SpecT]:
    """Return the one that a name or ``distribution:name`` means; raise UsageError if none is meant,
    or several are."""
    distribution, _, bare = name.rpartition(":")
    found = [p for p in provided if p.spec.name == bare]
    if distribution:
        found = [p for p in found if canonical(p.distribution) == canonical(distribution)]
    if not found:
        qualified = bool(distribution)
        known = [p.qualified if qualified else p.spec.name for p in provided]
        hint = f"(only the plugins in {LIMIT} are loaded)" if LIMIT in os.environ else ""
        raise unknown(kind, name, known, hint)
    if len(found) > 1:
        providers = " and ".join(p.provider for p in found)
        names = " or ".join(p.qualified for p in found)
        raise UsageError(f"{kind} {name!r} is provided by {providers}; ask for {names}")
    return found[0]


def canonical(distribution: str) -> str:
    """Return a distribution's name in its normal form, in which all its spellings are equal."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
