"""Arrays made to hurt: only small one-dimensional integers come through."""

from __future__ import annotations

import contextlib
import io
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bell_bench.records.packed.arrays import read_predictions
from bell_bench.records.packed.refused import Refused
from tests.leaderboard.submission.conftest import zipped


def npz(**named: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **named)
    return buffer.getvalue()


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin-1") + b"\n"
    return zipped({"a.npy": b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data})


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}_[0-9]", fullmatch=True),
        arrays.arrays(st.sampled_from([np.uint8, np.dtype("<i8")]), st.integers(0, 30)),
        max_size=5,
    )
)
def test_what_numpy_writes_is_read(named):
    found = read_predictions(npz(**named))
    assert found.keys() == named.keys()
    for name, array in named.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize(
    "array",
    [
        np.array([None, "x"], dtype=object),
        np.array([0.0, np.nan]),
        np.array([1, 2], dtype=">i8"),
        np.array([1, 2], dtype=np.int16),
        np.array([True]),
        np.array(["text"]),
        np.array([1j]),
        np.zeros((2, 2), np.uint8),
        np.uint8(3),
        np.zeros(2, dtype=[("a", np.uint8)]),
        np.array(["2020-01-01"], dtype="M8[D]"),
    ],
)
def test_other_types_and_shapes_are_refused(array):
    with pytest.raises(Refused, match=r"a\.npy: only arrays of type"):
        read_predictions(npz(a=array))


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (999999999,), }", "were announced"),
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (999999999,), }", "were announced"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (9999999999999,), }", "only arrays"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }", "only arrays"),
        ("{'descr': '|u1', 'fortran_order': True, 'shape': (4,), }", "only arrays"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (4,), }", "only arrays"),
        ("__import__('os').system('true')", "only arrays"),
        ("(" * 5000, "only arrays"),
        ("", "only arrays"),
    ],
)
def test_headers_that_lie_allocate_nothing(header, words):
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match=words):
            read_predictions(npy(header, b"abcd"))
        assert tracemalloc.get_traced_memory()[1] < 10 * 1024**2
    finally:
        tracemalloc.stop()


def test_other_formats_and_files_are_refused():
    good = "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }"
    assert read_predictions(npy(good, b"abcd"))["a"].tolist() == [97, 98, 99, 100]
    with pytest.raises(Refused, match=r"format 1\.0"):
        read_predictions(npy(good, b"abcd", version=b"\x02\x00"))
    with pytest.raises(Refused, match="3 bytes follow"):
        read_predictions(npy(good, b"abc"))
    for content in (b"", b"\x93NUMPY", b"\x80\x04pickle"):
        with pytest.raises(Refused, match=r"format 1\.0"):
            read_predictions(zipped({"a.npy": content}))
    with pytest.raises(Refused, match="is not an array"):
        read_predictions(zipped({"a.pkl": b""}))
    with pytest.raises(Refused, match="not a zip file"):
        read_predictions(b"\x80\x04pickle" * 10)


@given(st.integers(0, 600), st.binary(min_size=1, max_size=40))
def test_whatever_is_changed_nothing_but_refused_is_raised(start, replaced):
    content = bytearray(npz(labels_0=np.arange(50, dtype=np.uint8), final_0=np.zeros(50, int)))
    content[start : start + len(replaced)] = replaced
    with contextlib.suppress(Refused):
        read_predictions(bytes(content))
