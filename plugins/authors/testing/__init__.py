"""Does an algorithm keep every contract? A suite that anyone can run on their own class.

``bell-bench check my-idea`` on the command line; in pytest, one test per contract::

    import pytest
    from bell_bench_authors.testing import CONTRACTS, check_algorithm

    @pytest.mark.parametrize("contract", CONTRACTS)
    def test_contract(contract):
        check_algorithm("my-idea", contract)
"""

from bell_bench_authors.testing.conformance import (
    CONTRACTS,
    ContractBroken,
    Finding,
    check_algorithm,
    examine,
    explanation,
)

__all__ = ["CONTRACTS", "ContractBroken", "Finding", "check_algorithm", "examine", "explanation"]
