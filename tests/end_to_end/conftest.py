"""Third-party distributions as their authors would make them, installed by pip."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"

[project.entry-points.bell_bench]
{entry} = "{module}"

[tool.setuptools]
py-modules = {modules}
"""

MAJORITY_PLUGIN = """
from bell_bench import AlgorithmSpec, Option, hookimpl


@hookimpl
def bell_bench_algorithms():
    yield AlgorithmSpec(
        name="majority",
        load="majority_algorithm:Majority",
        summary="Always predicts the commonest class.",
        paper="Nobody, 2026",
        options={"smooth": Option(float, 0.0, "Added to each class's count.")},
    )
"""

MAJORITY_ALGORITHM = '''
import numpy as np
import torch

from bell_bench import Algorithm


class Majority(Algorithm):
    """Always predicts the commonest class."""

    def __init__(self, context, **options):
        super().__init__(context, **options)
        self.counts = []

    def learn(self, problem):
        counts = np.bincount(problem.train.labels, minlength=problem.classes)
        self.counts.append(counts + self.options["smooth"])
        self.context.account("counts", sum(counts.nbytes for counts in self.counts))

    def predict(self, index, inputs):
        return torch.tensor(self.counts[index], dtype=torch.float32).repeat(len(inputs), 1)

    def save(self, folder):
        np.savez(folder / "counts.npz", *self.counts)

    def load(self, folder):
        with np.load(folder / "counts.npz") as arrays:
            self.counts = list(arrays.values())
'''


@dataclass
class ThirdParty:
    """A place where distributions are made and installed, and bell-bench run beside them."""

    folder: pathlib.Path
    sources: list[pathlib.Path] = field(default_factory=list)

    @property
    def site(self) -> pathlib.Path:
        """What pip installs into; on the path of ``run``."""
        return self.folder / "site"

    def make(self, name: str, modules: dict[str, str], *, version: str = "1.0") -> None:
        """Write a distribution; its first module is the plugin, under the entry point ``name``."""
        source = self.folder / name
        source.mkdir(parents=True)
        for module, code in modules.items():
            (source / f"{module}.py").write_text(code)
        (source / "pyproject.toml").write_text(
            PYPROJECT.format(
                name=name,
                version=version,
                entry=name,
                module=next(iter(modules)),
                modules=list(modules),
            )
        )
        self.sources.append(source)

    def install(self) -> None:
        """Install all that was made, without network."""
        options = ["--no-deps", "--no-build-isolation", "--no-index", "--no-compile", "--quiet"]
        command = [sys.executable, "-m", "pip", "install", *options, "--target", str(self.site)]
        done = subprocess.run(
            [*command, *map(str, self.sources)], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr

    def run(self, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run ``bell-bench`` in the folder, as a user who has installed them would."""
        return subprocess.run(
            [sys.executable, "-m", "bell_bench", *args],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.site), **environment},
        )


@pytest.fixture(scope="session")
def make_third_party() -> Callable[[pathlib.Path], ThirdParty]:
    return ThirdParty


@pytest.fixture
def third_party(tmp_path: pathlib.Path) -> ThirdParty:
    """The distribution ``bell-bench-majority`` 1.0 with the algorithm ``majority``, installed."""
    party = ThirdParty(tmp_path / "third_party")
    party.make(
        "bell-bench-majority",
        {"majority_plugin": MAJORITY_PLUGIN, "majority_algorithm": MAJORITY_ALGORITHM},
    )
    party.install()
    return party
