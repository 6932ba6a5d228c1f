"""The verb ``check``: what it prints and how it exits."""

from __future__ import annotations

import json
import pathlib

import pytest

from bell_bench.cli.verbs import run

HERE = pathlib.Path(__file__).with_name("misbehaving.py")


def test_a_kept_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", f"{HERE}:Good", "--contract", "scores"]) == 0
    assert "kept            scores" in capsys.readouterr().out


@pytest.mark.slow
def test_a_member_of_a_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "avalanche:Naive", "--contract", "scores"]) == 0
    assert "kept            scores" in capsys.readouterr().out


def test_a_broken_one_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", f"{HERE}:WrongShape", "--contract", "scores"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "broken scores predict(0, inputs) must give class scores of shape" in out
    assert "The contract: Scores are a finite, real tensor" in out
    assert "See bell-bench check --explain scores" in out
    assert "0 of 1 contracts" in out


def test_a_contract_is_explained_without_an_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--explain", "scores"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("Scores are a finite, real tensor")
    assert "The highest score is the answer" in out
    assert run(["check", "--explain", "score"]) == 2
    assert "did you mean scores" in capsys.readouterr().err


def test_findings_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--contract", "learns", "--contract", "scores"]
    assert run(["check", f"{HERE}:WrongShape", *names, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(each["contract"], each["status"]) for each in found] == [
        ("learns", "kept"),
        ("scores", "broken"),
    ]
    assert found[1]["text"].startswith("Scores are a finite, real tensor")
    assert found[1]["where"] == "bell-bench check --explain scores"


@pytest.mark.parametrize(
    ("asked", "message"),
    [(["pickle"], "did you mean picle"), (["sa", "--contract", "x"], "known:")],
)
def test_unknown_names(asked: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *asked]) == 2
    assert message in capsys.readouterr().err
