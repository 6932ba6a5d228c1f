"""The contracts that an algorithm keeps, for authors' own tests. One test per contract::

    import pytest
    from bell_bench.testing import CONTRACTS, check_algorithm

    @pytest.mark.parametrize("contract", CONTRACTS)
    def test_contract(contract):
        check_algorithm("my-idea", contract)

The plugin that adds ``bell-bench check`` provides these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bell_bench.plugins import function_of_a_verb

if TYPE_CHECKING:
    from bell_bench_authors.testing import (
        CONTRACTS,
        ContractBroken,
        Finding,
        check_algorithm,
        examine,
        explanation,
    )

__all__ = ["CONTRACTS", "ContractBroken", "Finding", "check_algorithm", "examine", "explanation"]


def __getattr__(name: str) -> Any:
    found = function_of_a_verb(name) if name in __all__ else None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
