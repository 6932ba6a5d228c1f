"""A virtual environment beside ours, in which a distribution is installed as its users would."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass

from tests.plugin_folder import make_distribution
from tests.tiny_suite import TINY

Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class ScratchEnvironment:
    """What is installed here sees bell-bench and all it needs; we do not see what is here."""

    folder: pathlib.Path

    @staticmethod
    def make(folder: pathlib.Path) -> ScratchEnvironment:
        """The environment, with the tiny suite of our tests as a plugin."""
        venv.create(folder / "venv", symlinks=True)
        made = ScratchEnvironment(folder)
        ours = sysconfig.get_path("purelib")
        (made.site / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
        make_distribution(made.site, "tiny", TINY)
        made._make_script()
        return made

    def _make_script(self) -> None:
        """The command ``bell-bench`` as an installer writes it, for this environment's Python."""
        (entry,) = importlib.metadata.entry_points(group="console_scripts", name="bell-bench")
        script = self.folder / "venv" / "bin" / "bell-bench"
        script.write_text(
            f"#!{self.python}\nimport sys\nfrom {entry.module} import {entry.attr}\n"
            f"sys.exit({entry.attr}())\n"
        )
        script.chmod(0o755)

    @property
    def python(self) -> str:
        return str(self.folder / "venv" / "bin" / "python")

    @property
    def site(self) -> pathlib.Path:
        (found,) = (self.folder / "venv" / "lib").glob("python*/site-packages")
        return found

    def copy(self, source: pathlib.Path) -> pathlib.Path:
        """A distribution's source, copied here, so that building it leaves nothing in ours."""
        target = self.folder / source.name
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
        return target

    def install(self, *sources: pathlib.Path, alone: bool = False) -> None:
        """``pip install -e`` of each, as users do it. What they depend on, bell-bench first of all,
        is there already. Where no registry can be reached, or if they are to be installed alone, in
        a fraction of the time, what builds them is ours as well."""
        editable = [part for source in sources for part in ("-e", str(source))]
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet"]
        if alone or self.run(*pip, "--retries", "0", "--timeout", "10", *editable).returncode:
            done = self.run(*pip, "--no-deps", "--no-build-isolation", "--no-index", *editable)
            assert done.returncode == 0, done.stderr

    def bell_bench(self, *arguments: str) -> Completed:
        return self.run(str(self.folder / "venv" / "bin" / "bell-bench"), *arguments)

    def evaluate(self, *algorithms: str, sequence: str = "S_few") -> Completed:
        """On the tiny suite, in a second."""
        asked = [part for name in algorithms for part in ("--algo", name)]
        return self.bell_bench(
            "evaluate", *asked, "--suite", "tiny", "--sequence", sequence, "--csv", "rows.csv"
        )

    def run(self, *command: str) -> Completed:
        return subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, env=dict(os.environ)
        )
