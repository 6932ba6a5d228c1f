"""One plugin: its module is imported, its hooks are registered, and what they give is checked."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

import pluggy

from bell_bench import hookspecs
from bell_bench.errors import unknown
from bell_bench.import_strings import clip, one_line
from bell_bench.specs import AlgorithmSpec, Spec

if TYPE_CHECKING:
    from bell_bench.plugins import PluginInfo

HOOKS = tuple(name for name in dir(hookspecs) if name.startswith("bell_bench_"))


class BrokenPlugin(Exception):
    """A plugin is broken; the message says why in a sentence."""


class Plugin:
    """A loaded plugin. It has a pluggy manager of its own, so that it cannot disturb the others."""

    def __init__(self, info: PluginInfo, module: object) -> None:
        self.info = info
        self.module = module
        self.hooks = register(module)

    def call(self, hook: str, **kwargs: Any) -> list[Any]:
        """Call the plugin's implementations of a hook and return their results."""
        return cast("list[Any]", getattr(self.hooks, hook)(**kwargs))

    def implements(self, hook: str) -> bool:
        return bool(getattr(self.hooks, hook).get_hookimpls())


def import_plugin(entry_point: importlib.metadata.EntryPoint) -> object:
    """Return the plugin's module; raise BrokenPlugin if its import fails."""
    try:
        return entry_point.load()
    except (Exception, SystemExit) as error:
        raise BrokenPlugin(f"import of {entry_point.value} failed: {one_line(error)}") from error


def register(module: object) -> pluggy.HookRelay:
    """Register a plugin with a manager of its own and return the manager's hooks; raise
    BrokenPlugin if the plugin implements none, or one of them wrongly."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(module)
    except pluggy.PluginValidationError as error:
        raise BrokenPlugin(_wrong_signature(error)) from error
    except Exception as error:
        raise BrokenPlugin(f"cannot be registered: {one_line(error)}") from error
    callers = manager.get_hookcallers(module) or []
    for caller in callers:
        if not caller.has_spec():
            raise BrokenPlugin(str(unknown("hook", caller.name, HOOKS)))
    implemented = {caller.name for caller in callers}
    for hook in HOOKS:
        if hook not in implemented and callable(getattr(module, hook, None)):
            raise BrokenPlugin(f"{hook} is not marked with @hookimpl")
    if not callers:
        raise BrokenPlugin(f"implements no hook; known: {', '.join(HOOKS)}")
    return manager.hook


def _wrong_signature(error: pluggy.PluginValidationError) -> str:
    """Return pluggy's complaint about a signature on one line, without the module's path."""
    match = re.search(r"for hook '(\w+)'.*?hookimpl definition: (.*?)\n(.*)", str(error), re.S)
    if match is None:
        return one_line(error)
    hook, definition, complaint = match.groups()
    return f"{hook} has a wrong signature, {definition.strip()}: {' '.join(complaint.split())}"


def flatten(hook: str, results: Iterable[Any]) -> Iterator[Any]:
    for result in results:
        if isinstance(result, str) or not isinstance(result, Iterable):
            raise BrokenPlugin(f"{hook} gave {brief_repr(result)}, not an iterable of specs")
        yield from result


def check_spec(hook: str, spec: object, spec_type: type[Spec]) -> None:
    """Refuse what would fail later and elsewhere; a spec has checked its own names already."""
    if not isinstance(spec, spec_type):
        raise BrokenPlugin(f"{hook} gave {brief_repr(spec)}, not {spec_type.__name__}")
    if not isinstance(spec.summary, str):
        raise BrokenPlugin(
            f"{hook}: the summary of {spec.name!r} is {brief_repr(spec.summary)}, not text"
        )
    if ":" in spec.name:
        raise BrokenPlugin(f"{hook}: only the members of a family have a prefix, not {spec.name!r}")
    if isinstance(spec, AlgorithmSpec) and not isinstance(spec.suites, tuple | list):
        raise BrokenPlugin(
            f"{hook}: the suites of {spec.name!r} are {brief_repr(spec.suites)}, not a tuple"
        )


def brief_repr(value: object) -> str:
    return clip(" ".join(repr(value).split()), 60)
