from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from bell_bench.cli import progress
from bell_bench.cli.verbs import run
from bell_bench.files import hash_json
from bell_bench.modular.evaluations import EvaluationStore


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.delenv("BELL_BENCH_STORE_LIMIT", raising=False)
    return tmp_path / "runs"


def put(out: pathlib.Path, number: int) -> pathlib.Path:
    identity = {"number": number}
    record = json.dumps({"identity": identity})
    header = json.dumps({"__metadata__": {"record": record}}).encode()
    content = len(header).to_bytes(8, "little") + header
    store, key = EvaluationStore(out / "evaluations"), hash_json(identity)
    store.get_or_compute(key, lambda: content)
    return next(store.folder.glob(f"*/{key}-*"))


def entries(out: pathlib.Path) -> list[pathlib.Path]:
    return [entry.file for entry in EvaluationStore(out / "evaluations").entries()]


def test_info_of_nothing_creates_nothing(out, capsys):
    assert run(["cache", "info", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "entries    0" in text
    assert "0 bytes of 20 GB" in text
    assert not out.exists()


def test_info_as_json(out, capsys, monkeypatch):
    monkeypatch.setenv("BELL_BENCH_STORE_LIMIT", "5 MB")
    old, new = put(out, 1), put(out, 2)
    os.utime(old, (86400 * 365, 86400 * 365))
    assert run(["cache", "info", "--json", "--out", str(out)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["entries"] == 2
    assert facts["bytes"] == old.stat().st_size + new.stat().st_size
    assert facts["limit_bytes"] == 5_000_000
    assert facts["oldest"].startswith("197")
    assert facts["oldest"] < facts["newest"]


def test_default_folder_is_runs(out, capsys, monkeypatch):
    put(out, 1)
    monkeypatch.chdir(out.parent)
    assert run(["cache", "info"]) == 0
    assert "entries    1" in capsys.readouterr().out


def test_verify_sound(out, capsys):
    put(out, 1)
    assert run(["cache", "verify", "--out", str(out)]) == 0
    assert "1 sound, 0 damaged" in capsys.readouterr().out


def test_verify_drops_the_damaged_and_fails(out, capsys, recwarn):
    good, bad = put(out, 1), put(out, 2)
    content = bytearray(bad.read_bytes())
    content[-3] ^= 1
    bad.write_bytes(content)
    assert run(["cache", "verify", "--out", str(out)]) == 1
    text = capsys.readouterr().out
    assert f"damaged, dropped: {bad}" in text
    assert "1 sound, 1 damaged" in text
    assert entries(out) == [good]
    assert not recwarn.list
    assert run(["cache", "verify", "--out", str(out)]) == 0


def test_verify_shows_how_far_it_is_when_it_takes_long(out, capsys, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", -1)
    put(out, 1)
    assert run(["cache", "verify", "--out", str(out)]) == 0
    assert "checking evaluations: 0 of 1" in capsys.readouterr().err


def test_clear_asks(out, capsys, monkeypatch):
    put(out, 1)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    assert run(["cache", "clear", "--out", str(out)]) == 130
    assert len(entries(out)) == 1
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "y")
    assert run(["cache", "clear", "--out", str(out)]) == 0
    assert "removed 1 evaluations" in capsys.readouterr().out
    assert entries(out) == []


def test_clear_by_age(out, capsys):
    old, new = put(out, 1), put(out, 2)
    os.utime(old, (1000, 1000))
    assert run(["cache", "clear", "--yes", "--older-than", "30d", "--out", str(out)]) == 0
    assert entries(out) == [new]


@pytest.mark.parametrize("age", ["soon", "3", "-1d", "d", "1y"])
def test_odd_ages_are_refused(out, capsys, age):
    assert run(["cache", "clear", "--yes", f"--older-than={age}", "--out", str(out)]) == 2
    assert "write 90s, 30m, 2h, 30d or 2w" in capsys.readouterr().err


def test_odd_limit_is_refused(out, capsys, monkeypatch):
    monkeypatch.setenv("BELL_BENCH_STORE_LIMIT", "lots")
    assert run(["cache", "info", "--out", str(out)]) == 2
    assert "BELL_BENCH_STORE_LIMIT: 'lots' is not a size" in capsys.readouterr().err


def test_needs_no_torch(out):
    code = (
        "import sys; from bell_bench.cli.verbs import run; "
        f"run(['cache', 'verify', '--out', {str(out)!r}]); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
