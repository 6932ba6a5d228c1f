"""The plugin host: it loads entry points one by one, so that a broken plugin costs only itself.

It tries other distributions' plugins, and local files, in another process first, as an import can
end or hang its process.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import json
import os
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from bell_bench import hookspecs
from bell_bench.errors import BellBenchError, unknown
from bell_bench.import_check import try_out
from bell_bench.import_strings import is_loaded, load_object, one_line
from bell_bench.local_files import local_algorithm, local_file
from bell_bench.one_plugin import (
    HOOKS,
    BrokenPlugin,
    Plugin,
    brief_repr,
    check_spec,
    flatten,
    import_plugin,
)
from bell_bench.provided import LIMIT, OURS, Provided, SpecT, canonical, pick
from bell_bench.specs import (
    AlgorithmFamilySpec,
    AlgorithmSpec,
    DomainSpec,
    ExecutorSpec,
    NoteSpec,
    PictureSpec,
    ResultsSpec,
    SourceSpec,
    Spec,
    SuiteSpec,
    VerbSpec,
)

if TYPE_CHECKING:
    from bell_bench.suites.base import Suite

__all__ = ["HOOKS", "KINDS", "LIMIT", "OBSERVERS", "OURS", "PluginInfo", "PluginWarning",
           "Provided", "Registry", "function_of_a_verb", "local_algorithm", "registry",
           "told_of_plugins"]  # fmt: skip

DEADLY = "BELL_BENCH_DEADLY_PLUGINS"
"""The environment variable by which a process that has tried all plugins tells those it starts
which of them must not be imported, and why, as JSON."""

LEADERBOARD = "leaderboard"
"""Our plugin that shows results, which does so even where the environment leaves it out: every run
ends with a table."""

KINDS: dict[str, type[Spec]] = {
    "algorithms": AlgorithmSpec,
    "families": AlgorithmFamilySpec,
    "domains": DomainSpec,
    "sources": SourceSpec,
    "suites": SuiteSpec,
    "executors": ExecutorSpec,
    "verbs": VerbSpec,
    "notes": NoteSpec,
    "pictures": PictureSpec,
    "results": ResultsSpec,
}
"""What plugins provide, each by the hook ``bell_bench_KIND``."""
_SUITE_MEMBERS = (
    *("name", "version", "sequences", "scales", "protocols", "sources"),
    *("realisation_seed", "sequence"),
)
OBSERVERS = tuple(hook for hook in HOOKS if hook.removeprefix("bell_bench_") not in KINDS)


class PluginWarning(UserWarning):
    """A plugin is broken; all others work."""


@dataclass
class PluginInfo:
    """One plugin as ``bell-bench plugins`` shows it."""

    name: str
    distribution: str
    version: str
    status: str = "ok"
    """ok or broken."""
    reason: str = ""
    provides: dict[str, list[str]] = field(default_factory=dict)
    """Names by kind: algorithms, domains, suites, verbs, observers, …"""
    conflicts: list[str] = field(default_factory=list)
    """Names that another distribution provides too."""
    seconds: float = 0.0
    """How long its import took."""

    @property
    def label(self) -> str:
        return f"plugin {self.name!r} of {self.distribution} {self.version}"


class Registry:
    """What the loaded plugins provide, and why the broken ones are broken."""

    def __init__(
        self,
        entry_points: Iterable[importlib.metadata.EntryPoint],
        deadly: Mapping[str, str] | None = None,
    ) -> None:
        self.deadly = deadly or {}
        """The plugins that must not be imported in this process, each with the reason."""
        self.plugins: list[PluginInfo] = []
        self._provided: dict[type[Spec], list[Provided[Any]]] = {
            spec: [] for spec in KINDS.values()
        }
        self._loaded: list[Plugin] = []
        self._suite_objects: dict[str, Suite] = {}
        for entry_point in entry_points:
            self._add(entry_point)
        for spec_type, found in self._provided.items():
            found.sort(key=lambda provided: (provided.spec.name, provided.distribution))
            self._note_conflicts(spec_type.kind, found)

    def every(self, spec_type: type[SpecT]) -> list[Provided[SpecT]]:
        """Return all that plugins provide of a kind, sorted by name."""
        return self._provided[spec_type]

    def files(self) -> list[str]:
        """Return the files of the loaded plugins' modules."""
        files = (getattr(plugin.module, "__file__", None) for plugin in self._loaded)
        return sorted(file for file in files if file)

    def named(self, spec_type: type[SpecT], name: str) -> Provided[SpecT]:
        """Return the one of a name or ``distribution:name``; raise UsageError if there is none."""
        return pick(spec_type.kind, name, self.every(spec_type))

    @property
    def algorithms(self) -> list[Provided[AlgorithmSpec]]:
        return self.every(AlgorithmSpec)

    @property
    def domains(self) -> list[Provided[DomainSpec]]:
        return self.every(DomainSpec)

    @property
    def suites(self) -> list[Provided[SuiteSpec]]:
        return self.every(SuiteSpec)

    @property
    def families(self) -> set[str]:
        """The prefixes of all families of algorithms."""
        return {each.spec.name for each in self.every(AlgorithmFamilySpec)}

    def algorithm(self, name: str) -> Provided[AlgorithmSpec]:
        """Return the algorithm of a name: its own, ``distribution:name``, a family's member such as
        ``avalanche:Naive``, or ``./my_algo.py:MyAlgorithm``."""
        path, _, attribute = name.rpartition(":")
        if path.endswith(".py"):
            _try_file(path, attribute)
            return local_algorithm(path, attribute)
        if path in self.families:
            return _member(self.named(AlgorithmFamilySpec, path), attribute)
        return self.named(AlgorithmSpec, name)

    def domain(self, name: str) -> Provided[DomainSpec]:
        return self.named(DomainSpec, name)

    def suite(self, name: str) -> Suite:
        """Import a suite and return it."""
        if name not in self._suite_objects:
            provided = self.named(SuiteSpec, name)
            try:
                self._suite_objects[name] = _checked_suite(load_object(provided.spec.load))
            except BellBenchError as error:
                raise BellBenchError(f"suite {name!r} of {provided.provider}: {error}") from error
        return self._suite_objects[name]

    def results(self) -> Any:
        """Return the class that shows results: another distribution's if any, else ours."""
        found = self.every(ResultsSpec) or _ours(LEADERBOARD).every(ResultsSpec)
        chosen = [each for each in found if not each.ours] or found
        if len(chosen) != 1:
            names = ", ".join(each.provider for each in chosen) or "nobody"
            raise BellBenchError(
                f"results are shown by {names}: install one plugin that shows results, or limit "
                f"the plugins with {LIMIT}"
            )
        return load_object(chosen[0].spec.load)

    def notify(self, hook: str, **kwargs: Any) -> None:
        """Call the observers of a hook. If one raises, warn of it once and go on."""
        for plugin in self._loaded:
            try:
                plugin.call(hook, **kwargs)
            except (Exception, SystemExit) as error:
                first = plugin.info.status == "ok"
                _mark(plugin.info, f"{hook} raised {one_line(error)}")
                if first:
                    _warn(plugin.info)

    def _add(self, entry_point: importlib.metadata.EntryPoint) -> None:
        info = PluginInfo(entry_point.name, *_distribution(entry_point))
        self.plugins.append(info)
        if reason := self.deadly.get(_label(entry_point)):
            _mark(info, reason)
            return
        started = time.perf_counter()
        try:
            plugin = Plugin(info, import_plugin(entry_point))
        except BrokenPlugin as fault:
            _mark(info, str(fault))
            return
        finally:
            info.seconds = time.perf_counter() - started
        self._loaded.append(plugin)
        for kind in KINDS:
            self._collect(plugin, kind)
        observers = [hook for hook in OBSERVERS if plugin.implements(hook)]
        if observers:
            info.provides["observers"] = observers

    def _collect(self, plugin: Plugin, kind: str) -> None:
        """Add what a plugin provides of a kind: all of it, or nothing if any of it is wrong."""
        hook, spec_type = f"bell_bench_{kind}", KINDS[kind]
        info = plugin.info
        found = self._provided[spec_type]
        taken = {p.spec.name for p in found if p.distribution == info.distribution}
        specs: list[Spec] = []
        try:
            for spec in flatten(hook, plugin.call(hook)):
                check_spec(hook, spec, spec_type)
                if spec.name in taken:
                    raise BrokenPlugin(f"{hook} gives the name {spec.name!r} a second time")
                taken.add(spec.name)
                specs.append(spec)
        except BrokenPlugin as fault:
            _mark(info, str(fault))
        except (Exception, SystemExit) as error:
            _mark(info, f"{hook} raised {one_line(error)}")
        else:
            if specs:
                info.provides[kind] = [spec.name for spec in specs]
            found += [Provided(s, info.name, info.distribution, info.version) for s in specs]

    def _note_conflicts(self, kind: str, found: list[Provided[Any]]) -> None:
        for provided in found:
            rivals = [p for p in found if p.spec.name == provided.spec.name and p is not provided]
            if rivals:
                info = next(
                    i
                    for i in self.plugins
                    if (i.name, i.distribution) == (provided.plugin, provided.distribution)
                )
                info.conflicts.append(
                    f"{kind} {provided.spec.name!r} is also in "
                    + ", ".join(p.provider for p in rivals)
                    + f"; ask for {provided.qualified}"
                )


_loading = False
"""Whether plugins are being imported at this moment."""


def function_of_a_verb(name: str) -> Any:
    """Return a function that a plugin's verb offers, or None if there is none.

    While plugins load it returns None, so that a plugin which asks for an unknown name does not
    load all plugins again.
    """
    if not _loading:
        for verb in registry().every(VerbSpec):
            if name in verb.spec.functions:
                return load_object(verb.spec.functions[name])
    return None


@functools.cache
def registry() -> Registry:
    """Return the registry of this process. After ``registry.cache_clear()`` it is loaded again."""
    global _loading
    _loading = True
    try:
        entry_points = _limited(importlib.metadata.entry_points(group=hookspecs.GROUP))
        loaded = Registry(entry_points, _deadly(entry_points))
    finally:
        _loading = False
    for info in loaded.plugins:
        if info.status == "broken":
            _warn(info)
    return loaded


def _ours(name: str) -> Registry:
    """Return a registry of one of our own plugins alone."""
    every = importlib.metadata.entry_points(group=hookspecs.GROUP)
    return Registry(each for each in every if each.name == name and _owner(each) == OURS)


def _load_alone(label: str) -> None:
    """Load one plugin as the registry does, in a process that it may end."""
    entry_points = importlib.metadata.entry_points(group=hookspecs.GROUP)
    Registry(each for each in entry_points if _label(each) == label)


def _deadly(entry_points: Iterable[importlib.metadata.EntryPoint]) -> dict[str, str]:
    """Return the plugins that end or hang a process that loads them, each with how it ended."""
    if DEADLY in os.environ:
        return cast("dict[str, str]", json.loads(os.environ[DEADLY]))
    others = [e for e in entry_points if _owner(e) != OURS and e.module not in sys.modules]
    return _try("_load_alone", [_label(e) for e in others])


def _try(load: str, items: list[str]) -> dict[str, str]:
    """Return what one of our functions finds wrong with some items, in another process that imports
    from the same places."""
    path = os.pathsep.join(each for each in sys.path if each and isinstance(each, str))
    environment = {**os.environ, "PYTHONPATH": path, DEADLY: "{}"}
    return try_out(f"{__name__}:{load}", items, environment)


def told_of_plugins() -> dict[str, str]:
    """Return environment variables that tell child processes what was found out about plugins."""
    if not registry.cache_info().currsize:
        return {}
    return {DEADLY: json.dumps(registry().deadly)}


def _load_file_alone(load: str) -> None:
    """Load what an import string names, in a process that it may end. The parent process meets a
    mere error again when it loads the same."""
    with contextlib.suppress(BellBenchError):
        load_object(load)


def _try_file(path: str, name: str) -> None:
    """Raise BellBenchError if importing a file would end or hang this process."""
    file, load = local_file(path, name)
    if not is_loaded(file):
        for fault in _try("_load_file_alone", [load]).values():
            raise BellBenchError(fault)


def _member(family: Provided[AlgorithmFamilySpec], name: str) -> Provided[AlgorithmSpec]:
    """Return a family's algorithm, with the version of the library that defines it."""
    spec: AlgorithmSpec = load_object(family.spec.load)(name)
    distribution, version = family.distribution, family.version
    if family.spec.distribution:
        distribution = family.spec.distribution
        version = installed_version(distribution) or "not installed"
    return Provided(spec, family.plugin, distribution, version, family.spec.name)


def installed_version(distribution: str) -> str | None:
    """Return the version of a distribution without importing it, or None if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _checked_suite(suite: Any) -> Suite:
    """Return a suite; raise BellBenchError if it lacks what listings need."""
    lacking = [name for name in _SUITE_MEMBERS if not hasattr(suite, name)]
    if lacking:
        raise BellBenchError(f"{brief_repr(suite)} is no suite, it lacks {', '.join(lacking)}")
    return cast("Suite", suite)


def _limited(
    entry_points: Iterable[importlib.metadata.EntryPoint],
) -> list[importlib.metadata.EntryPoint]:
    """Return the entry points that the environment variable admits, in a fixed order."""
    every = sorted(entry_points, key=lambda e: (_distribution(e), e.name))
    limit = os.environ.get(LIMIT)
    if limit is None:
        return every
    admitted = []
    for name in filter(None, map(str.strip, limit.split(","))):
        found = [e for e in every if name == e.name or canonical(name) == _owner(e)]
        if not found:
            raise unknown("plugin", name, [e.name for e in every], f"(in {LIMIT})")
        admitted += [e for e in found if e not in admitted]
    return admitted


def _distribution(entry_point: importlib.metadata.EntryPoint) -> tuple[str, str]:
    if entry_point.dist is None:
        return "unknown", "unknown"
    return entry_point.dist.name or "unknown", entry_point.dist.version or "unknown"


def _label(entry_point: importlib.metadata.EntryPoint) -> str:
    return f"{_distribution(entry_point)[0]}:{entry_point.name}"


def _owner(entry_point: importlib.metadata.EntryPoint) -> str:
    return canonical(_distribution(entry_point)[0])


def _mark(info: PluginInfo, reason: str) -> None:
    info.status = "broken"
    info.reason = f"{info.reason}; {reason}" if reason not in info.reason else info.reason
    info.reason = info.reason.removeprefix("; ")


def _warn(info: PluginInfo) -> None:
    message = f"{info.label} is broken: {info.reason}"
    warnings.warn(PluginWarning(message), stacklevel=3)
