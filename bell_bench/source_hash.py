"""Hash the source of packages that are installed in editable mode.

Their version says little. So a hash of the source is part of the provider that a job names, and an
edited algorithm is run again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import pathlib

MARK = "+source."
"""The text between a version and the hash of the source."""


def edition(distribution: str, load: str) -> str:
    """Return the mark and a hash of the source behind an import string if its distribution is
    editable; else an empty text."""
    return f"{MARK}{source_hash(load)}" if _editable(distribution) else ""


def edited(version: str, load: str) -> bool:
    """Return whether the source has changed since a version with a hash was made."""
    _, mark, planned = version.partition(MARK)
    return bool(mark) and planned != source_hash(load)


def source_hash(load: str) -> str:
    """Return a hash of all Python files of the top-level package or module; nothing is imported."""
    digest = hashlib.sha256()
    for root, file in _files(load.partition(":")[0].partition(".")[0]):
        digest.update(f"{file.relative_to(root)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _files(package: str) -> list[tuple[pathlib.Path, pathlib.Path]]:
    """Return the files of a package, each with the folder that its name is relative to."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        file = pathlib.Path(spec.origin or "")
        return [(file.parent, file)] if file.is_file() else []
    roots = map(pathlib.Path, spec.submodule_search_locations)
    return [(root, file) for root in roots for file in sorted(root.rglob("*.py"))]


def _editable(distribution: str) -> bool:
    """Return whether a distribution is editable, as pip and others record it (PEP 610)."""
    try:
        text = importlib.metadata.distribution(distribution).read_text("direct_url.json")
        return bool(json.loads(text or "{}").get("dir_info", {}).get("editable"))
    except (importlib.metadata.PackageNotFoundError, ValueError, AttributeError):
        return False
