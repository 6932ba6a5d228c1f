"""Seals: what was written is what is read, in the form of today and in the former one."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bell_bench.files import SEAL, check_seal, parse_json, seal, write_json, write_sealed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
CONTENT = {"schema": 1, "job": {"seed": 0}, "accuracy": 0.5, "words": [', "sha256": "', "ü\n}"]}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.text().filter(lambda key: key != SEAL), VALUES, min_size=1))
def test_what_was_sealed_is_sound(tmp_path, content):
    write_sealed(tmp_path / "x.json", content)
    text = (tmp_path / "x.json").read_bytes()
    found = parse_json(text)
    check_seal(text)
    assert {k: v for k, v in found.items() if k != SEAL} == json.loads(json.dumps(content))


@pytest.mark.parametrize("write", [write_sealed, lambda file, it: write_json(file, seal(it))])
def test_any_other_content_is_told(tmp_path, write):
    write(tmp_path / "x.json", CONTENT)
    text = (tmp_path / "x.json").read_bytes()
    check_seal(text)
    told = 0
    for place in range(len(text)):
        for byte in (text[place] ^ 1, text[place] ^ 2):
            changed = text[:place] + bytes([byte]) + text[place + 1 :]
            try:
                content = parse_json(changed)
            except ValueError:
                continue
            if content != parse_json(text) and SEAL in content:
                with pytest.raises(ValueError, match="not as it was written"):
                    check_seal(changed)
                told += 1
    assert told > 50


def test_what_never_was_sealed_passes():
    check_seal(json.dumps(CONTENT).encode())
