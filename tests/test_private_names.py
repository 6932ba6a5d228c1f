"""Private names of others that we use: all of them are listed here, and each has its own tests."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

from bell_bench.modular import private_torch

ROOT = pathlib.Path(__file__).parents[1]
SHIPPED = ("bell_bench", "algorithms", "leaderboard", "plugins")

USED = {
    "_fused_adam_": "tests/modular/test_private_torch.py",
    "_fused_adamw_": "tests/modular/test_private_torch.py",
    "batch_norm_update_stats": "tests/modular/test_private_torch.py",
    "ops.aten.convolution_backward": "tests/modular/test_private_torch.py",
    "ops.aten.max_pool2d_with_indices": "tests/modular/test_private_torch.py",
    "ops.aten.max_pool2d_with_indices_backward": "tests/modular/test_private_torch.py",
    "ops.aten.threshold_backward.grad_input": "tests/modular/test_private_torch.py",
    "flop_registry": "tests/modular/test_private_torch.py",
    "torch.utils._python_dispatch": "tests/modular/test_private_torch.py",
    "_should_skip_dynamo": "tests/modular/test_private_torch.py",
    "_shutdown": "tests/test_forkserver.py",
    "_run_exitfuncs": "tests/test_forkserver.py",
}
"""By the tests that fail on the day one of them changes; the fallback is where it is used."""
DOCUMENTED = {"_exit", "_getframe", "_replace", "_asdict", "_fields", "_make"}
"""Python's own documentation has them, underscore or not."""
OVERRIDDEN = {"_should_skip_dynamo"}
UNDERSCORELESS = {"aten", "flop_registry", "batch_norm_update_stats"}
"""Not promised either: outside ``__all__`` and the documentation."""


def test_every_private_name_is_listed_and_every_listed_one_used() -> None:
    found = {name: {private_torch.__file__} for name in private_torch.BORROWED}
    for folder in SHIPPED:
        for file in sorted((ROOT / folder).rglob("*.py")):
            for name in private_names(file):
                found.setdefault(name, set()).add(str(file.relative_to(ROOT)))
    assert found.keys() == USED.keys(), {name: found[name] for name in found.keys() - USED.keys()}
    for tests in set(USED.values()):
        assert (ROOT / tests).is_file()


def private_names(file: pathlib.Path) -> Iterator[str]:
    """Names that begin with an underscore and that the file does not define itself."""
    tree = ast.parse(file.read_text())
    own = {node.name for node in ast.walk(tree) if hasattr(node, "name")}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    own |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        for name in _named(node):
            last = name.rpartition(".")[2]
            private = last.startswith("_") and not last.endswith("__") and last not in own
            if (private and last not in DOCUMENTED) or last in UNDERSCORELESS | OVERRIDDEN:
                yield name


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.ImportFrom) and _others(node):
        if any(part.startswith("_") for part in (node.module or "").split(".")[1:]):
            yield node.module or ""
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
        yield from (arg.value for arg in node.args[1:2] if isinstance(arg, ast.Constant))


def _others(node: ast.ImportFrom) -> bool:
    return (node.module or "").partition(".")[0] not in ("__future__", "bell_bench")
