"""Jobs use the kernels that processors without AVX-512 have."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from bell_bench import cpu_determinism
from bell_bench.harness.executor import worker_environment
from bell_bench.modular.path import ModulePath
from tests.modular.making import make_evaluator, make_problem


@pytest.fixture(autouse=True)
def _unset(monkeypatch):
    for name in cpu_determinism.HELD:
        monkeypatch.delenv(name, raising=False)


def having(monkeypatch, *flags):
    monkeypatch.setattr(cpu_determinism, "_flags", lambda: frozenset(flags))


def test_with_avx512_a_job_is_held_to_avx2(monkeypatch):
    having(monkeypatch, "avx2", "avx512f")
    environment = worker_environment()
    assert {name: environment[name] for name in cpu_determinism.HELD} == cpu_determinism.HELD


def test_without_it_nothing_is_set(monkeypatch):
    having(monkeypatch, "avx2")
    assert not cpu_determinism.HELD.keys() & worker_environment().keys()


def test_whoever_sets_a_variable_has_their_way(monkeypatch):
    having(monkeypatch, "avx2", "avx512f")
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx512")
    environment = worker_environment()
    assert environment["ATEN_CPU_CAPABILITY"] == "avx512"
    assert "ONEDNN_MAX_CPU_ISA" not in environment, "both are held, or neither"


def test_torch_heeds_it_after_its_import_too(monkeypatch):
    """A process that evaluates paths for others has imported torch by then."""
    having(monkeypatch, "avx2", "avx512f")
    if torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
        pytest.skip("no processor with AVX2")
    code = "import torch, os; os.environ.update(%r); print(torch.backends.cpu.get_cpu_capability())"
    told = subprocess.run(
        [sys.executable, "-c", code % cpu_determinism.held()],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "AVX2"


def test_evaluations_of_other_kernels_are_kept_apart(monkeypatch, tmp_path):
    """Else whoever computes first would decide a figure for all machines on a shared store."""
    evaluator, problem = make_evaluator(tmp_path), make_problem()
    keys = set()
    for capability in ("AVX2", "AVX512"):
        monkeypatch.setattr("torch.backends.cpu.get_cpu_capability", lambda held=capability: held)
        keys.add(evaluator.key(ModulePath.prefix((), len(problem.architecture)), problem))
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "ALL")
    keys.add(evaluator.key(ModulePath.prefix((), len(problem.architecture)), problem))
    assert len(keys) == 3
