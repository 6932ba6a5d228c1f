"""What pyproject.toml ships is what lies in the folders: all that works here is installed."""

from __future__ import annotations

import pathlib
import sys

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = pathlib.Path(__file__).parent.parent
FOLDERS = {
    "bell_bench": "bell_bench",
    "bell_bench_algorithms": "algorithms",
    "bell_bench_leaderboard": "leaderboard",
}
NOT_SHIPPED = {"published", "__pycache__"}


@pytest.fixture(scope="module")
def setuptools():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def found(pattern):
    for package, folder in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob(pattern)):
            if file.is_file() and not NOT_SHIPPED & set(file.relative_to(ROOT).parts):
                yield package, file.relative_to(ROOT / folder)


def test_every_package_is_listed(setuptools):
    folders = {".".join((package, *file.parent.parts)) for package, file in found("__init__.py")}
    assert folders == set(setuptools["packages"])


def test_every_other_file_is_package_data(setuptools):
    shipped = {
        file
        for package, patterns in setuptools["package-data"].items()
        for pattern in patterns
        for file in folder_of(package).glob(pattern)
    }
    others = {file for file in map(whole, found("*")) if not is_module(file)}
    assert others == {file for file in shipped if file.is_file() and not is_module(file)}


def whole(item):
    package, file = item
    return ROOT / FOLDERS[package] / file


def is_module(file):
    return file.suffix == ".py" and (file.parent / "__init__.py").exists()


def folder_of(package):
    top, *rest = package.split(".")
    return ROOT.joinpath(FOLDERS[top], *rest)


@pytest.mark.parametrize("package", FOLDERS)
def test_every_package_ships_its_types(package):
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "py.typed" in data["package-data"][package]
    assert (ROOT / FOLDERS[package] / "py.typed").is_file()
