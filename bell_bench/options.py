"""Options of algorithms: ``picle.k=40``, with the type that the algorithm's spec declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from bell_bench.errors import UsageError, unknown
from bell_bench.specs import AlgorithmSpec, Option

_BOOLS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_options(
    settings: Iterable[str], specs: Iterable[AlgorithmSpec]
) -> dict[str, dict[str, Any]]:
    """Read ``ALGORITHM.OPTION=VALUE`` settings; an option's last setting counts."""
    by_name = {spec.name: spec for spec in specs}
    parsed: dict[str, dict[str, Any]] = {}
    for setting in settings:
        target, equals, text = setting.partition("=")
        if not equals or "." not in target:
            raise UsageError(
                f"{setting!r} is not an option; write ALGORITHM.OPTION=VALUE, e.g. picle.k=40"
            )
        spec, name = _split(target, by_name)
        option = _find(spec, name)
        parsed.setdefault(spec.name, {})[name] = _read(f"{spec.name}.{name}", option, text)
    return parsed


def complete(spec: AlgorithmSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of an algorithm: the given values, checked, and defaults for the rest."""
    checked = {
        name: _check(f"{spec.name}.{name}", _find(spec, name), value)
        for name, value in given.items()
    }
    return {name: checked.get(name, option.default) for name, option in spec.options.items()}


def type_name(option: Option) -> str:
    """Return an option's type as people read it: ``int``, ``a | b``, ``float or none``."""
    name = " | ".join(map(str, option.choices)) if option.choices else option.type.__name__
    if option.minimum is not None:
        name += f" of at least {option.minimum:g}"
    if option.above is not None:
        name += f" above {option.above:g}"
    if option.maximum is not None:
        name += f"{' and' * (' ' in name)} of at most {option.maximum:g}"
    return f"{name} or none" if option.optional else name


def show_value(value: Any) -> str:
    """Return a value as ``--option`` takes it."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _split(target: str, specs: Mapping[str, AlgorithmSpec]) -> tuple[AlgorithmSpec, str]:
    """Return the algorithm and option in ``algorithm.option``; both names may contain dots."""
    matches = [name for name in specs if target.startswith(f"{name}.")]
    if not matches:
        algorithm = target.rpartition(".")[0]
        raise unknown("algorithm", algorithm, specs, f"(in option {target!r}; give it to --algo)")
    algorithm = max(matches, key=len)
    return specs[algorithm], target[len(algorithm) + 1 :]


def _find(spec: AlgorithmSpec, name: str) -> Option:
    if name in spec.options:
        return spec.options[name]
    if not spec.options:
        raise UsageError(f"{spec.name} has no options, so {spec.name}.{name} cannot be set")
    listing = ", ".join(f"{known} ({type_name(o)})" for known, o in sorted(spec.options.items()))
    error = unknown("option", name, spec.options)
    raise UsageError(f"{error.args[0].partition('; known')[0]}; {spec.name} has {listing}")


def _read(label: str, option: Option, text: str) -> Any:
    """Return text from the command line as a value of the option's type."""
    if option.optional and text.casefold() == "none":
        return None
    readers: dict[type, Callable[[str], Any]] = {
        bool: lambda text: _BOOLS[text.casefold()],
        int: int,
        float: float,
        str: str,
    }
    try:
        value = readers[option.type](text)
    except (KeyError, ValueError):
        raise _ill_typed(label, option, text) from None
    return _check(label, option, value)


def _check(label: str, option: Option, value: Any) -> Any:
    if value is None and option.optional:
        return None
    if option.type is float and type(value) is int:
        value = float(value)
    right = type(value) is option.type and not (isinstance(value, float) and not isfinite(value))
    if not right or not allowed(option, value):
        raise _ill_typed(label, option, value)
    return value


def allowed(option: Option, value: Any) -> bool:
    """Return whether a value of the right type is among the choices, or in the range."""
    if option.choices and value not in option.choices:
        return False
    enough = option.minimum is None or value >= option.minimum
    enough = enough and (option.above is None or value > option.above)
    return enough and (option.maximum is None or value <= option.maximum)


def _ill_typed(label: str, option: Option, value: object) -> UsageError:
    wanted = "true or false" if option.type is bool else type_name(option)
    finite = "a finite " if option.type is float and not option.choices else ""
    return UsageError(
        f"option {label} takes {finite}{wanted}, not {value!r} ({option.help.rstrip('.')}; "
        f"default {show_value(option.default)})"
    )
