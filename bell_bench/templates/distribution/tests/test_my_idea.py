"""my-idea keeps every contract of bell-bench."""

import pytest

from bell_bench.testing import CONTRACTS, check_algorithm


@pytest.mark.parametrize("contract", CONTRACTS)
def test_contract(contract: str) -> None:
    check_algorithm("my-idea", contract)
