"""What is built has all that lies in the folders, and works without them."""

from __future__ import annotations

import configparser
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile
from typing import NamedTuple

import pytest

from tests.scratch_environment import ScratchEnvironment

ROOT = pathlib.Path(__file__).parent.parent
PLUGINS = [folder for folder in (ROOT / "plugins").iterdir() if (folder / "__init__.py").is_file()]
FOLDERS = {
    "bell_bench": "bell_bench",
    "bell_bench_algorithms": "algorithms",
    "bell_bench_leaderboard": "leaderboard",
    **{f"bell_bench_{folder.name}": f"plugins/{folder.name}" for folder in PLUGINS},
}
NOT_SHIPPED = {"published", "__pycache__"}
BUILT_FROM = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
pytestmark = pytest.mark.slow


class Built(NamedTuple):
    source: pathlib.Path
    wheel: pathlib.Path


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Built:
    """Both distributions, built of a copy of what they are made of: the wheel of the other one."""
    copy = tmp_path_factory.mktemp("source")
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, copy)
    for folder in FOLDERS.values():
        ignored = shutil.ignore_patterns(*NOT_SHIPPED)
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
    target = copy / "dist"
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", target, copy)
    return Built(next(target.glob("*.tar.gz")), next(target.glob("*.whl")))


def run(*command: object) -> str:
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_file_is_in_the_wheel(built: Built) -> None:
    here = {
        f"{package}/{file.relative_to(ROOT / folder).as_posix()}"
        for package, folder in FOLDERS.items()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and not NOT_SHIPPED & set(file.relative_to(ROOT).parts)
    }
    with zipfile.ZipFile(built.wheel) as wheel:
        shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert shipped == here
    assert {f"{package}/py.typed" for package in FOLDERS} <= shipped


def test_every_plugin_in_the_wheel_has_an_entry_point_and_the_reverse(built: Built) -> None:
    entries = configparser.ConfigParser()
    with zipfile.ZipFile(built.wheel) as wheel:
        shipped = set(wheel.namelist())
        (file,) = (name for name in shipped if name.endswith(".dist-info/entry_points.txt"))
        entries.read_string(wheel.read(file).decode())
    named = set(entries["bell_bench"].values())
    for module in named:
        path = module.replace(".", "/")
        assert {f"{path}.py", f"{path}/__init__.py"} & shipped, module
    plugins = {f"{package}.plugin" for package in FOLDERS if f"{package}/plugin.py" in shipped}
    assert plugins
    assert plugins <= named


def test_the_citation_is_of_the_version_that_is_built(built: Built) -> None:
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert built.wheel.name.startswith(f"bell_bench-{cited}-")


def test_an_index_would_take_them(built: Built) -> None:
    assert run(sys.executable, "-m", "twine", "check", "--strict", *built).count("PASSED") == 2


def test_the_wheel_works_without_the_repository(built: Built, tmp_path) -> None:
    environment = ScratchEnvironment.make(tmp_path)
    pip = (sys.executable, "-m", "pip", "--python", environment.python, "install", "--quiet")
    run(*pip, "--no-deps", "--no-index", "--force-reinstall", built.wheel)
    where = environment.run(environment.python, "-c", "import bell_bench; print(bell_bench)")
    assert str(environment.site) in where.stdout
    for arguments in (
        ("doctor",),
        ("evaluate", "--algo", "picle", "--suite", "tiny", "--sequence", "S_few"),
        ("new-algorithm", "mine", "--kind", "modular"),
        ("leaderboard", str(ROOT / "leaderboard/published/bell-standard-picle.zip")),
    ):
        done = environment.bell_bench(*arguments)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
