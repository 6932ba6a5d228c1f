"""What is installed to be edited in place: its version says little, so a hash of its source is part
of what a job names as its provider, and an edited algorithm is run again."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import pathlib

MARK = "+source."
"""Between a version and the hash of the source."""


def edition(distribution: str, load: str) -> str:
    """The mark and a hash of the source behind an import string, of an editable distribution."""
    return f"{MARK}{source_hash(load)}" if _editable(distribution) else ""


def edited(version: str, load: str) -> bool:
    """Whether the source is no longer the one that a version with a hash names."""
    _, mark, planned = version.partition(MARK)
    return bool(mark) and planned != source_hash(load)


def source_hash(load: str) -> str:
    """Of all Python files of the top-level package or module; nothing is imported."""
    digest = hashlib.sha256()
    for root, file in _files(load.partition(":")[0].partition(".")[0]):
        digest.update(f"{file.relative_to(root)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _files(package: str) -> list[tuple[pathlib.Path, pathlib.Path]]:
    """With the folder that each is named by."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        file = pathlib.Path(spec.origin or "")
        return [(file.parent, file)] if file.is_file() else []
    roots = map(pathlib.Path, spec.submodule_search_locations)
    return [(root, file) for root in roots for file in sorted(root.rglob("*.py"))]


def _editable(distribution: str) -> bool:
    """As pip and others record it (PEP 610)."""
    try:
        text = importlib.metadata.distribution(distribution).read_text("direct_url.json")
        return bool(json.loads(text or "{}").get("dir_info", {}).get("editable"))
    except (importlib.metadata.PackageNotFoundError, ValueError, AttributeError):
        return False
