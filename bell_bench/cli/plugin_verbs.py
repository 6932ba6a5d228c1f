"""The verbs that plugins add.

Loading all plugins takes longer than printing help may take. So what ``--help`` shows of them is
cached until something is installed, removed or edited.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import warnings
from collections.abc import Container
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bell_bench import __version__
from bell_bench.folders import cache_folder

if TYPE_CHECKING:
    from bell_bench.specs import VerbSpec


def plugin_verbs() -> dict[str, VerbSpec]:
    """Return the verbs of all plugins by name; if several have one name, the first one's."""
    from bell_bench.plugins import registry
    from bell_bench.specs import VerbSpec

    found: dict[str, VerbSpec] = {}
    for provided in registry().every(VerbSpec):
        found.setdefault(provided.spec.name, provided.spec)
    return found


def plugin_lines(ours: Container[str]) -> dict[str, str]:
    """Return a line of help for each verb of a plugin that is not one of ours."""
    file = _cache_file()
    with suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(file.read_text("utf-8"))
        if known["installed"] == _installed(known["modules"]):
            return {str(name): str(help) for name, help in known["verbs"].items()}
    verbs = {name: spec.summary for name, spec in _quietly().items() if name not in ours}
    _remember(file, verbs)
    return verbs


def _quietly() -> dict[str, VerbSpec]:
    """Return the plugins' verbs without warning of broken plugins: `bell-bench plugins` tells."""
    from bell_bench.plugins import PluginWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        return plugin_verbs()


def _remember(file: pathlib.Path, verbs: dict[str, str]) -> None:
    """Cache the verbs, unless a plugin is broken."""
    from bell_bench.files import write_json
    from bell_bench.plugins import registry

    if any(plugin.status == "broken" for plugin in registry().plugins):
        return  # it may be mended in a file that nobody watches
    modules = registry().files()
    with suppress(OSError):  # without a cache, help takes some milliseconds longer
        write_json(file, {"installed": _installed(modules), "modules": modules, "verbs": verbs})


def _installed(modules: list[str]) -> list[Any]:
    """Return values that change when a plugin is installed, removed, limited or edited."""
    places = [place for place in (*sys.path, *modules) if os.path.exists(place)]
    limit = os.environ.get("BELL_BENCH_PLUGINS")
    return [__version__, limit, *([place, os.stat(place).st_mtime_ns] for place in places)]


def _cache_file() -> pathlib.Path:
    return cache_folder() / "verbs.json"
