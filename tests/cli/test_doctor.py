"""The doctor finds what is wrong, and says what to do."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest

from bell_bench.cli.verbs import run
from bell_bench.descriptions import doctor


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

    monkeypatch.setattr(doctor, "SECTIONS", {"python": crash, "packages": lambda: iter(())})
    monkeypatch.setattr(doctor, "ELSEWHERE", [])
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "fail" in out
    assert "RuntimeError: oh" in out


@pytest.mark.parametrize(
    ("package", "code", "ending"),
    [
        ("torchvision", "import os; os.abort()", "SIGABRT"),
        ("torchvision", "import os; os._exit(7)", "exit code 7"),
        ("torch", "import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("torch", "import os; os.kill(os.getpid(), 9)", "SIGKILL"),
    ],
)
def test_what_ends_a_process_is_a_finding_and_the_others_are_made(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    package: str,
    code: str,
    ending: str,
) -> None:
    (tmp_path / f"{package}.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert run(["doctor", "--json"]) == 1
    findings = {check["name"]: check for check in json.loads(capsys.readouterr().out)}
    finding = findings[f"trying {package}"]
    assert finding["status"] == "fail"
    assert finding["found"] == f"loading {package} ends the process with {ending}"
    assert finding["advice"].startswith("install ")
    assert findings["runs folder"]["status"] == "ok"
    assert "15 of 15" in findings["data glyphs"]["found"]


def test_what_is_merely_broken_costs_one_finding(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('of another CUDA')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert run(["doctor", "--json"]) == 1
    checks = json.loads(capsys.readouterr().out)
    (failed,) = [check for check in checks if check["status"] == "fail"]
    assert failed["name"] == "torchvision state"
    assert "RuntimeError: of another CUDA" in failed["found"]
