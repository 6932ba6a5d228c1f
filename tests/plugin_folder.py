"""A distribution made on the spot: a module and the metadata that an installer would write."""

from __future__ import annotations

import pathlib
import textwrap


def make_distribution(folder: pathlib.Path, name: str, source: str, version: str = "0.1") -> None:
    """Put module ``name`` with an entry point in the group ``bell_bench`` into ``folder``, which
    becomes a plugin once the folder is on PYTHONPATH."""
    (folder / f"{name}.py").write_text(textwrap.dedent(source))
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[bell_bench]\n{name} = {name}\n")
