"""The public names suffice: algorithms, templates and examples import no others."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Collection, Iterator, Mapping

import pytest

import bell_bench
import bell_bench_avalanche
import bell_bench_leaderboard
from bell_bench import testing

ROOT = pathlib.Path(__file__).parents[2]
Surface = Mapping[str, Collection[str]]
"""The public names of each module that may be imported."""

BUILT_IN: Surface = {
    "bell_bench": bell_bench.__all__,
    "bell_bench_avalanche": bell_bench_avalanche.__all__,
}
OUTSIDE: Surface = {
    "bell_bench": bell_bench.__all__,
    "bell_bench.testing": testing.__all__,
    "bell_bench_leaderboard": bell_bench_leaderboard.__all__,
}
OWN = ("bell_bench_algorithms", "bell_bench_bandit")
"""Packages of the files themselves, which may import each other's names."""
FILES = [
    *((file, BUILT_IN) for file in sorted((ROOT / "algorithms").rglob("*.py"))),
    *((file, OUTSIDE) for file in sorted((ROOT / "plugins/authors/templates").glob("*/**/*.py"))),
    *((file, OUTSIDE) for file in sorted((ROOT / "examples").rglob("*.py"))),
]


def not_public(code: str, surface: Surface) -> Iterator[str]:
    """Yield what the code imports or uses of our packages besides public names."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and not node.level and _ours(node.module or ""):
            public = surface.get(node.module or "", ())
            yield from (f"{node.module}.{a.name}" for a in node.names if a.name not in public)
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
            yield from (name for name in names if _ours(name) and name not in surface)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in surface:
            used, public = ast.unparse(node), surface[ast.unparse(node.value)]
            if node.attr not in public and used not in surface:
                yield used


def _ours(module: str) -> bool:
    top = module.partition(".")[0]
    return top.startswith("bell_bench") and top not in OWN


@pytest.mark.parametrize(
    ("file", "surface"), FILES, ids=[str(file.relative_to(ROOT)) for file, _ in FILES]
)
def test_only_public_names_are_imported(file: pathlib.Path, surface: Surface) -> None:
    found = list(not_public(file.read_text(encoding="utf-8"), surface))
    assert not found, f"not public: {', '.join(found)}"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from bell_bench import ModulePath, hookimpl", []),
        ("from bell_bench import _HOMES", ["bell_bench._HOMES"]),
        ("from bell_bench import modular", ["bell_bench.modular"]),
        ("from bell_bench.modular.path import NEW", ["bell_bench.modular.path.NEW"]),
        ("def f():\n    import bell_bench.files as files", ["bell_bench.files"]),
        ("import bell_bench\nbell_bench.problem", ["bell_bench.problem"]),
        ("import bell_bench\nbell_bench.Problem.__name__", []),
        ("from bell_bench.testing import check_algorithm", []),
        ("from bell_bench.testing import tiny_job", ["bell_bench.testing.tiny_job"]),
        ("from bell_bench_avalanche.data import Task", ["bell_bench_avalanche.data.Task"]),
        ("from bell_bench_algorithms.lmc.options import MEAN", []),
    ],
)
def test_other_imports_are_found(code: str, found: list[str]) -> None:
    assert list(not_public(code, OUTSIDE)) == found


def test_all_of_the_files_are_looked_at() -> None:
    folders = {file.relative_to(ROOT).parts[:2] for file, _ in FILES}
    assert {("algorithms", "lmc"), ("algorithms", "picle"), ("examples", "hooks")} <= folders
    assert len([file for file, _ in FILES if "templates" in file.parts]) >= 7
