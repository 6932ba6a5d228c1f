"""What ``bell-bench check`` and ``new-algorithm`` do, from Python."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bell_bench.api import several
from bell_bench_authors.templates import write_distribution

if TYPE_CHECKING:
    from bell_bench_authors.testing import Finding


def check(algorithm: str, *, contracts: str | Iterable[str] = ()) -> list[Finding]:
    """Check an algorithm against every contract, or those named; return a finding for each.

    See ``bell_bench.testing``, which can be used in pytest.
    """
    from bell_bench_authors.testing import CONTRACTS, examine

    return list(examine(algorithm, several(contracts) or CONTRACTS))


def new_algorithm(
    name: str, *, kind: str = "modular", licence: str = "MIT", author: str | None = None
) -> pathlib.Path:
    """Write a distribution with an algorithm that runs, in a folder ``name``; return the folder."""
    return write_distribution(pathlib.Path(name), kind=kind, licence=licence, author=author)
