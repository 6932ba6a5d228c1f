"""JSON made to hurt."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bell_bench.records.packed.plain_json import DEPTH, read_json, walk
from bell_bench.records.packed.refused import Refused

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(VALUES)
def test_plain_values_come_through(value):
    encoded = json.dumps(value).encode()
    if "\\ud" not in encoded.decode():
        assert read_json(encoded) == value


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[NaN]", "NaN is not a number"),
        (b"[-Infinity]", "is not a number"),
        (b"[1e999]", "not a finite number"),
        (b"9" * 5000, "5,000 digits"),
        (b'{"a": 1, "a": 2}', "occurs twice"),
        (b"[" * 100_000 + b"]" * 100_000, "not JSON that can be read|levels deep"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "levels deep"),
        (b"[" * (DEPTH + 1) + b"]" * (DEPTH + 1), "levels deep"),
        (b'["\\ud800"]', "not Unicode"),
        (b'{"\\udfff": 1}', "not Unicode"),
        (b"\xff\xfe", "not JSON"),
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\x1b[2J", "not JSON"),
    ],
    ids=range(14),
)
def test_what_is_refused(content, words):
    with pytest.raises(Refused, match=words):
        read_json(content)


@given(st.binary(max_size=60))
def test_nothing_but_refused_is_raised(content):
    with contextlib.suppress(Refused):
        read_json(content)


def test_walking_names_every_part():
    assert list(walk({"a": [1, {"b": 2}]})) == [
        ((), {"a": [1, {"b": 2}]}),
        (("a",), "a"),
        (("a",), [1, {"b": 2}]),
        (("a", 0), 1),
        (("a", 1), {"b": 2}),
        (("a", 1, "b"), "b"),
        (("a", 1, "b"), 2),
    ]
