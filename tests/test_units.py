"""Sizes and times as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bell_bench.errors import UsageError
from bell_bench.units import format_size, parse_size, parse_time


@pytest.mark.parametrize(
    ("text", "size"),
    [("20 GB", 20 * 10**9), ("500mb", 5 * 10**8), ("1.5 GiB", 3 * 2**29), ("7", 7), ("2k", 2000)],
)
def test_sizes_for_people(text, size):
    assert parse_size(text) == size


@settings(deadline=None)
@given(st.integers(1, 10**15))
def test_sizes_are_read_as_they_are_written(size):
    assert parse_size(format_size(size)) == pytest.approx(size, rel=1e-3)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("1.5 H", 5400), ("2w", 14 * 86400)])
def test_times_for_people(text, seconds):
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0 GB", "-1", "1e3", "much", "1 XB", "9" * 400])
def test_what_is_no_size(text):
    with pytest.raises(UsageError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize("text", ["", "0s", "-1s", "10", "soon", "9" * 400 + "d"])
def test_what_is_no_time(text):
    with pytest.raises(UsageError, match="is not a time"):
        parse_time(text)
