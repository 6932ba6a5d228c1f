"""The plugin host: entry points loaded one by one, so that a broken plugin costs only itself.

Other distributions' and local files are tried in another process first: some imports end it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import pluggy

from bell_bench import hookspecs
from bell_bench.errors import BellBenchError, UsageError, unknown
from bell_bench.import_check import try_out
from bell_bench.import_strings import clip, is_loaded, load_object, one_line
from bell_bench.source_hash import edition
from bell_bench.specs import (
    AlgorithmFamilySpec,
    AlgorithmSpec,
    DomainSpec,
    ExecutorSpec,
    NoteSpec,
    Option,
    PictureSpec,
    ResultsSpec,
    SourceSpec,
    Spec,
    SuiteSpec,
    VerbSpec,
)

if TYPE_CHECKING:
    from bell_bench.suites.base import Suite

LIMIT = "BELL_BENCH_PLUGINS"
"""The environment variable that names the entry points or distributions to load; empty: none."""

DEADLY = "BELL_BENCH_DEADLY_PLUGINS"
"""The environment variable by which a process that has tried all plugins tells those it starts
which of them must not be imported, and why, as JSON."""

OURS = "bell-bench"
"""The distribution whose own plugins need no trial."""

LEADERBOARD = "leaderboard"
"""Our plugin that shows results, which does so even where the environment leaves it out: every run
ends with a table."""

SpecT = TypeVar("SpecT", bound=Spec)

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
HOOKS = tuple(name for name in dir(hookspecs) if name.startswith("bell_bench_"))
_SUITE_MEMBERS = (
    *("name", "version", "sequences", "scales", "protocols", "sources"),
    *("realisation_seed", "sequence"),
)
OBSERVERS = tuple(hook for hook in HOOKS if hook.removeprefix("bell_bench_") not in KINDS)


class PluginWarning(UserWarning):
    """A plugin is broken; all others work."""


class _Fault(Exception):
    """Why a plugin is broken, in a sentence."""


@dataclass(frozen=True)
class Provided(Generic[SpecT]):
    """A spec and who provides it."""

    spec: SpecT
    plugin: str
    """The entry point's name; ``file`` for a local file."""
    distribution: str
    """The distribution's name; for a local file, its path."""
    version: str
    """The distribution's version; for a local file, a hash of its content."""
    family: str = ""
    """The family that the algorithm belongs to, if it belongs to one."""

    @property
    def qualified(self) -> str:
        """The name that picks this provider among several."""
        return self.spec.name if self.family else f"{self.distribution}:{self.spec.name}"

    @property
    def ours(self) -> bool:
        """Whether our own distribution provides it."""
        return _canonical(self.distribution) == OURS

    @property
    def provider(self) -> str:
        """As a job names it: another one makes another job. Ours has versions for what changes a
        figure; others' editable distributions are named with a hash of their source."""
        known = self.plugin == "file" or self.family or self.ours
        source = "" if known else edition(self.distribution, self.spec.load)
        return f"{self.distribution} {self.version}{source}"


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


class _Plugin:
    """A loaded plugin with a pluggy manager of its own: nothing it does reaches the others."""

    def __init__(self, info: PluginInfo, module: object) -> None:
        self.info = info
        self.module = module
        self.hooks = _register(module)

    def call(self, hook: str, **kwargs: Any) -> list[Any]:
        """The results of the plugin's implementations of ``hook``."""
        return cast("list[Any]", getattr(self.hooks, hook)(**kwargs))

    def implements(self, hook: str) -> bool:
        return bool(getattr(self.hooks, hook).get_hookimpls())


class Registry:
    """All that the loaded plugins provide, and what is wrong with the broken ones."""

    def __init__(
        self,
        entry_points: Iterable[importlib.metadata.EntryPoint],
        deadly: Mapping[str, str] | None = None,
    ) -> None:
        self.deadly = deadly or {}
        """Plugins that are not to be imported here, with the reason."""
        self.plugins: list[PluginInfo] = []
        self._provided: dict[type[Spec], list[Provided[Any]]] = {
            spec: [] for spec in KINDS.values()
        }
        self._loaded: list[_Plugin] = []
        self._suite_objects: dict[str, Suite] = {}
        for entry_point in entry_points:
            self._add(entry_point)
        for spec_type, found in self._provided.items():
            found.sort(key=lambda provided: (provided.spec.name, provided.distribution))
            self._note_conflicts(spec_type.kind, found)

    def every(self, spec_type: type[SpecT]) -> list[Provided[SpecT]]:
        """All that plugins provide of a kind, sorted by name."""
        return self._provided[spec_type]

    def files(self) -> list[str]:
        """The files of the plugins' modules."""
        files = (getattr(plugin.module, "__file__", None) for plugin in self._loaded)
        return sorted(file for file in files if file)

    def named(self, spec_type: type[SpecT], name: str) -> Provided[SpecT]:
        """The one of this name, or of ``distribution:name``; UsageError if there is none."""
        return _pick(spec_type.kind, name, self.every(spec_type))

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
        """The prefixes of families of algorithms."""
        return {each.spec.name for each in self.every(AlgorithmFamilySpec)}

    def algorithm(self, name: str) -> Provided[AlgorithmSpec]:
        """By name, as ``distribution:name``, as a member of a family like ``avalanche:Naive``, or
        from a file as ``./my_algo.py:MyAlgorithm``."""
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
        """The suite itself, loaded."""
        if name not in self._suite_objects:
            provided = self.named(SuiteSpec, name)
            try:
                self._suite_objects[name] = _checked_suite(load_object(provided.spec.load))
            except BellBenchError as error:
                raise BellBenchError(f"suite {name!r} of {provided.provider}: {error}") from error
        return self._suite_objects[name]

    def results(self) -> Any:
        """The class that shows results: another distribution's if there is one, else ours."""
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
        """Call the observers of ``hook``. One that raises is warned about once, and survived."""
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
            plugin = _Plugin(info, _import(entry_point))
        except _Fault as fault:
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

    def _collect(self, plugin: _Plugin, kind: str) -> None:
        """Add what the plugin provides of ``kind``: all of it, or nothing if any of it is bad."""
        hook, spec_type = f"bell_bench_{kind}", KINDS[kind]
        info = plugin.info
        found = self._provided[spec_type]
        taken = {p.spec.name for p in found if p.distribution == info.distribution}
        specs: list[Spec] = []
        try:
            for spec in _flatten(hook, plugin.call(hook)):
                _check_spec(hook, spec, spec_type)
                if spec.name in taken:
                    raise _Fault(f"{hook} gives the name {spec.name!r} a second time")
                taken.add(spec.name)
                specs.append(spec)
        except _Fault as fault:
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
    """Return a function that a plugin's verb offers, or None; None too while plugins load, as one
    of them may ask for a name that does not exist."""
    if not _loading:
        for verb in registry().every(VerbSpec):
            if name in verb.spec.functions:
                return load_object(verb.spec.functions[name])
    return None


@functools.cache
def registry() -> Registry:
    """The registry of this process. ``registry.cache_clear()`` makes the next call load afresh."""
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
    """A registry of one of our own plugins alone."""
    every = importlib.metadata.entry_points(group=hookspecs.GROUP)
    return Registry(each for each in every if each.name == name and _owner(each) == OURS)


def _load_alone(label: str) -> None:
    """In a trial: as the registry would, so that what it does to a process shows."""
    entry_points = importlib.metadata.entry_points(group=hookspecs.GROUP)
    Registry(each for each in entry_points if _label(each) == label)


def _deadly(entry_points: Iterable[importlib.metadata.EntryPoint]) -> dict[str, str]:
    """The plugins that end or hang a process that loads them, and how."""
    if DEADLY in os.environ:
        return cast("dict[str, str]", json.loads(os.environ[DEADLY]))
    others = [e for e in entry_points if _owner(e) != OURS and e.module not in sys.modules]
    return _try("_load_alone", [_label(e) for e in others])


def _try(load: str, items: list[str]) -> dict[str, str]:
    """What a function of ours finds wrong with the items, in a process that imports as this one."""
    path = os.pathsep.join(each for each in sys.path if each and isinstance(each, str))
    environment = {**os.environ, "PYTHONPATH": path, DEADLY: "{}"}
    return try_out(f"{__name__}:{load}", items, environment)


def told_of_plugins() -> dict[str, str]:
    """What the processes that this one starts need not find out again."""
    if not registry.cache_info().currsize:
        return {}
    return {DEADLY: json.dumps(registry().deadly)}


def _load_file_alone(load: str) -> None:
    """In a trial; what it raises, it raises here too, and is told then."""
    with contextlib.suppress(BellBenchError):
        load_object(load)


def _try_file(path: str, name: str) -> None:
    """Refuse a file whose import would end or hang this process."""
    file, load = _local(path, name)
    if not is_loaded(file):
        for fault in _try("_load_file_alone", [load]).values():
            raise BellBenchError(fault)


def _local(path: str, name: str) -> tuple[pathlib.Path, str]:
    """The file, and the import string of what is asked for."""
    file = pathlib.Path(path)
    with contextlib.suppress(RuntimeError, ValueError):  # nobody's home, a loop of links, a NUL
        file = file.expanduser().resolve()
    if not file.is_file():
        raise UsageError(f"no such file: {file} (asked for as {path}:{name})")
    if not name.isidentifier():
        raise UsageError(f"name the class in {file} to use, as {path}:MyAlgorithm")
    return file, f"file:{file}:{name}"


def local_algorithm(path: str, name: str) -> Provided[AlgorithmSpec]:
    """The algorithm in a file, with its class's ``options`` and the start of its docstring."""
    file, load = _local(path, name)
    target = load_object(load)
    if not isinstance(target, type):
        raise UsageError(f"{name} in {file} is no class, but {target!r}")
    options: Mapping[str, Option] = getattr(target, "options", {})
    try:
        spec = AlgorithmSpec(name, load, _first_sentence(target), options=dict(options))
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{name} in {file}: {error}") from error
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return Provided(spec, "file", str(file), f"sha256:{digest[:12]}")


def _member(family: Provided[AlgorithmFamilySpec], name: str) -> Provided[AlgorithmSpec]:
    """A family's algorithm. What it does depends on the version of the library behind it."""
    spec: AlgorithmSpec = load_object(family.spec.load)(name)
    distribution, version = family.distribution, family.version
    if family.spec.distribution:
        distribution = family.spec.distribution
        version = installed_version(distribution) or "not installed"
    return Provided(spec, family.plugin, distribution, version, family.spec.name)


def installed_version(distribution: str) -> str | None:
    """The version of a distribution, found without importing it; None if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _checked_suite(suite: Any) -> Suite:
    """Refuse an object that would fail in listings; what it does when it runs is its affair."""
    lacking = [name for name in _SUITE_MEMBERS if not hasattr(suite, name)]
    if lacking:
        raise BellBenchError(f"{_brief(suite)} is no suite, it lacks {', '.join(lacking)}")
    return cast("Suite", suite)


def _first_sentence(target: type) -> str:
    lines = (target.__dict__.get("__doc__") or "").strip().splitlines()
    return lines[0].strip() if lines else "(no docstring)"


def _import(entry_point: importlib.metadata.EntryPoint) -> object:
    try:
        return entry_point.load()
    except (Exception, SystemExit) as error:
        raise _Fault(f"import of {entry_point.value} failed: {one_line(error)}") from error


def _register(module: object) -> pluggy.HookRelay:
    """The hooks of a manager that knows this plugin alone, once all of them are right."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(module)
    except pluggy.PluginValidationError as error:
        raise _Fault(_wrong_signature(error)) from error
    except Exception as error:
        raise _Fault(f"cannot be registered: {one_line(error)}") from error
    callers = manager.get_hookcallers(module) or []
    for caller in callers:
        if not caller.has_spec():
            raise _Fault(str(unknown("hook", caller.name, HOOKS)))
    implemented = {caller.name for caller in callers}
    for hook in HOOKS:
        if hook not in implemented and callable(getattr(module, hook, None)):
            raise _Fault(f"{hook} is not marked with @hookimpl")
    if not callers:
        raise _Fault(f"implements no hook; known: {', '.join(HOOKS)}")
    return manager.hook


def _wrong_signature(error: pluggy.PluginValidationError) -> str:
    """Pluggy's words on a wrong signature, on one line and without the path of the module."""
    match = re.search(r"for hook '(\w+)'.*?hookimpl definition: (.*?)\n(.*)", str(error), re.S)
    if match is None:
        return one_line(error)
    hook, definition, complaint = match.groups()
    return f"{hook} has a wrong signature, {definition.strip()}: {' '.join(complaint.split())}"


def _flatten(hook: str, results: Iterable[Any]) -> Iterator[Any]:
    for result in results:
        if isinstance(result, str) or not isinstance(result, Iterable):
            raise _Fault(f"{hook} gave {_brief(result)}, not an iterable of specs")
        yield from result


def _check_spec(hook: str, spec: object, spec_type: type[Spec]) -> None:
    """Refuse what would fail later and elsewhere; a spec has checked its own names already."""
    if not isinstance(spec, spec_type):
        raise _Fault(f"{hook} gave {_brief(spec)}, not {spec_type.__name__}")
    if not isinstance(spec.summary, str):
        raise _Fault(f"{hook}: the summary of {spec.name!r} is {_brief(spec.summary)}, not text")
    if ":" in spec.name:
        raise _Fault(f"{hook}: only the members of a family have a prefix, not {spec.name!r}")
    if isinstance(spec, AlgorithmSpec) and not isinstance(spec.suites, tuple | list):
        raise _Fault(f"{hook}: the suites of {spec.name!r} are {_brief(spec.suites)}, not a tuple")


def _pick(kind: str, name: str, provided: list[Provided[SpecT]]) -> Provided[SpecT]:
    distribution, _, bare = name.rpartition(":")
    found = [p for p in provided if p.spec.name == bare]
    if distribution:
        found = [p for p in found if _canonical(p.distribution) == _canonical(distribution)]
    if not found:
        qualified = bool(distribution)
        known = [p.qualified if qualified else p.spec.name for p in provided]
        hint = f"(only the plugins in {LIMIT} are loaded)" if LIMIT in os.environ else ""
        raise unknown(kind, name, known, hint)
    if len(found) > 1:
        providers = " and ".join(p.provider for p in found)
        names = " or ".join(p.qualified for p in found)
        raise UsageError(f"{kind} {name!r} is provided by {providers}; ask for {names}")
    return found[0]


def _limited(
    entry_points: Iterable[importlib.metadata.EntryPoint],
) -> list[importlib.metadata.EntryPoint]:
    """The entry points that the environment variable admits, in a fixed order."""
    every = sorted(entry_points, key=lambda e: (_distribution(e), e.name))
    limit = os.environ.get(LIMIT)
    if limit is None:
        return every
    admitted = []
    for name in filter(None, map(str.strip, limit.split(","))):
        found = [e for e in every if name == e.name or _canonical(name) == _owner(e)]
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
    return _canonical(_distribution(entry_point)[0])


def _canonical(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _mark(info: PluginInfo, reason: str) -> None:
    info.status = "broken"
    info.reason = f"{info.reason}; {reason}" if reason not in info.reason else info.reason
    info.reason = info.reason.removeprefix("; ")


def _warn(info: PluginInfo) -> None:
    message = f"{info.label} is broken: {info.reason}"
    warnings.warn(PluginWarning(message), stacklevel=3)


def _brief(value: object) -> str:
    return clip(" ".join(repr(value).split()), 60)
