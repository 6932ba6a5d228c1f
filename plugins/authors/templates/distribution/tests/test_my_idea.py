"""my-idea keeps every contract of bell-bench."""

from bell_bench.testing import check_algorithm


def test_it_keeps_every_contract() -> None:
    check_algorithm("my-idea")
