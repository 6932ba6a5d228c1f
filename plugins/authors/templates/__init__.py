"""Write the distribution of ``bell-bench new-algorithm``, from the files beside this one.

Each is a real file of a distribution called my-idea, whose name is replaced in a new one.
"""

from __future__ import annotations

import importlib.util
import json
import keyword
import pathlib
import re
import subprocess
import time
from collections.abc import Iterator, Mapping

from bell_bench.errors import UsageError, unknown
from bell_bench.files import write_whole
from bell_bench.plugins import registry

KINDS = {
    "modular": "a search over paths of library modules; training and predicting are inherited",
    "shared": "one network for all problems, a head per problem; its loss keeps it from forgetting",
    "from-scratch": "learning and predicting all its own; tensors it keeps are saved and loaded",
}
NO_LICENCE = "none"
LICENCES = ("MIT", "BSD-3-Clause", "Apache-2.0", NO_LICENCE)
"""Licences by their SPDX names; ``none`` postpones the choice and reserves all rights."""

_HERE = pathlib.Path(__file__).parent
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def write_distribution(
    folder: pathlib.Path, *, kind: str = "modular", licence: str = "MIT", author: str | None = None
) -> pathlib.Path:
    """Write the distribution of an algorithm named like ``folder``, which must not exist yet."""
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    licence = _licence(licence)
    name = folder.name
    module = _module(name)
    _check(name, module, folder)
    words = {
        "my-idea": name,
        "my_idea": module,
        "MyIdea": "".join(part.capitalize() for part in module.split("_") if part),
        "@AUTHOR@": _author(author or _git_author()) or f"The authors of {name}",
        "@LICENCE@": licence,
        "@YEAR@": time.strftime("%Y"),
    }
    quoted = {'"@AUTHOR@"': _quoted(words["@AUTHOR@"])}
    for target, source in _files(kind, licence):
        text = source.read_text(encoding="utf-8")
        if licence == NO_LICENCE and target == "pyproject.toml":
            text = re.sub(r"^license.*\n", "", text, flags=re.M)
        write_whole(folder / _put(words, target), _put({**quoted, **words}, text).encode())
    return folder


def _files(kind: str, licence: str) -> Iterator[tuple[str, pathlib.Path]]:
    """Yield each file's place in the distribution, under the name my-idea, and its source."""
    for source in sorted((_HERE / "distribution").rglob("*")):
        if source.is_file() and "__pycache__" not in source.parts:
            yield source.relative_to(_HERE / "distribution").as_posix(), source
    for source in sorted((_HERE / kind.replace("-", "_")).glob("*.py")):
        yield f"my_idea/{source.name}", source
    if licence != NO_LICENCE:
        yield "LICENSE", _HERE / "licences" / licence


def _put(words: Mapping[str, str], text: str) -> str:
    """Return the text with all words replaced at once, so that no replacement is replaced again."""
    return re.sub("|".join(words), lambda match: words[match[0]], text)


def _licence(asked: str) -> str:
    """Return the licence as it is spelt, for a name in any case."""
    found = {licence.casefold(): licence for licence in LICENCES}.get(asked.casefold())
    if found is None:
        raise unknown("licence", asked, LICENCES)
    return found


def _author(name: str) -> str:
    """Return a name that may stand in a line of any file."""
    if not name.isprintable():
        raise UsageError(f"the author {name!r} has line breaks or control characters: omit them")
    return name.strip()


def _quoted(text: str) -> str:
    """Return a string of TOML, whose escapes include those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _module(name: str) -> str:
    module = re.sub(r"[^a-z0-9]+", "_", name.lower())
    return f"algorithm_{module}" if module[:1].isdigit() else module


def _check(name: str, module: str, folder: pathlib.Path) -> None:
    """Raise UsageError for a name that could not be installed, imported or told apart."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a distribution: begin and end with a letter or digit, and use "
            "letters, digits, - . _ only"
        )
    if keyword.iskeyword(module) or importlib.util.find_spec(module) is not None:
        raise UsageError(f"{name} would hide the Python module {module}: choose another name")
    for provided in registry().algorithms:
        known = provided.spec.name
        if known.casefold() == name.casefold():  # some systems take these for one name
            raise UsageError(f"{provided.provider} has an algorithm {known}: choose another name")
    if folder.exists():
        raise UsageError(f"{folder} is already there: choose another name, or remove it")


def _git_author() -> str:
    """Return the name that git signs commits with, if there is one."""
    try:
        done = subprocess.run(
            ["git", "config", "user.name"], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
