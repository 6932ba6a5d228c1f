"""The doctor finds what is wrong, and says what to do."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest

from bell_bench.cli.verbs import run
from bell_bench.facts import doctor


def test_a_healthy_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    findings = {check["name"]: check for check in json.loads(capsys.readouterr().out)}
    for name in ("python", "torch", "avalanche-lib", "torch build", "torchvision state", "devices"):
        assert name in findings
    for name in ("threads", "memory", "runs folder", "cache folder", "data glyphs", "plugins"):
        assert name in findings
    assert "15 of 15" in findings["data glyphs"]["found"]
    assert all(check["status"] in ("ok", "warn") for check in findings.values())
    assert all(check["advice"] for check in findings.values() if check["status"] != "ok")


def test_a_missing_and_an_old_package(monkeypatch: pytest.MonkeyPatch) -> None:
    requirements = ["no-such-package>=1", "click>=999", "ray>=1; extra == 'ray'", "click>=8"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: requirements)
    checks = list(doctor._packages())[1:]
    assert [check.status for check in checks] == ["fail", "fail", "ok"]
    assert checks[0].advice == "pip install 'no-such-package>=1'"
    assert ">=999 is needed" in checks[1].found


def test_a_folder_that_cannot_be_used(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    check = doctor._folder("runs", tmp_path / "file" / "runs", "choose another")
    assert (check.status, check.advice) == ("fail", "choose another")
    assert doctor._folder("runs", tmp_path / "new" / "runs", "").status == "ok"
    assert not (tmp_path / "new").exists(), "looking changes nothing"


def test_a_failure_is_an_exit_code_and_a_crash_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash() -> Iterator[doctor.Check]:
        raise RuntimeError("oh")

    for section in ("_packages", "_torch", "_machine", "_folders", "_data"):
        monkeypatch.setattr(doctor, section, lambda: iter(()))
    monkeypatch.setattr(doctor, "_python", crash)
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "fail" in out
    assert "RuntimeError: oh" in out
