"""bell-bench: which continual-learning algorithm transfers what, and at which cost?

The names below are what a plugin author needs, and what the command line does, from Python. Each is
imported when it is first used, so that ``import bell_bench`` costs nothing and declaring a plugin
imports neither torch nor numpy.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bell_bench.algorithm import Algorithm, Context
    from bell_bench.api import (
        ablate_density,
        ablate_nt_search,
        check,
        data_status,
        describe,
        doctor,
        download_data,
        evaluate,
        evaluation_store,
        import_data,
        installed_plugins,
        leaderboard,
        listing,
        new_algorithm,
        plan,
        reproduce,
        show,
        submit,
        validate,
        verify_data,
    )
    from bell_bench.errors import BellBenchError, Unsupported, UsageError
    from bell_bench.hookspecs import hookimpl, hookspec
    from bell_bench.keeping import KeepingAlgorithm
    from bell_bench.modular.evaluator import Evaluation
    from bell_bench.modular.modular_algorithm import ModularAlgorithm
    from bell_bench.modular.path import ModulePath
    from bell_bench.modular.shared_algorithm import SharedAlgorithm, Training
    from bell_bench.problem import Inputs, Problem, Split
    from bell_bench.results import Results
    from bell_bench.specs import AlgorithmSpec, DomainSpec, Option, SuiteSpec

__version__ = "0.1.0"
"""The installed version."""

__all__ = [
    "Algorithm",
    "AlgorithmSpec",
    "BellBenchError",
    "Context",
    "DomainSpec",
    "Evaluation",
    "Inputs",
    "KeepingAlgorithm",
    "ModularAlgorithm",
    "ModulePath",
    "Option",
    "Problem",
    "Results",
    "SharedAlgorithm",
    "Split",
    "SuiteSpec",
    "Training",
    "Unsupported",
    "UsageError",
    "__version__",
    "ablate_density",
    "ablate_nt_search",
    "check",
    "data_status",
    "describe",
    "doctor",
    "download_data",
    "evaluate",
    "evaluation_store",
    "hookimpl",
    "hookspec",
    "import_data",
    "installed_plugins",
    "leaderboard",
    "listing",
    "new_algorithm",
    "plan",
    "reproduce",
    "show",
    "submit",
    "validate",
    "verify_data",
]

_HOMES = {
    "Algorithm": "bell_bench.algorithm",
    "AlgorithmSpec": "bell_bench.specs",
    "BellBenchError": "bell_bench.errors",
    "Context": "bell_bench.algorithm",
    "DomainSpec": "bell_bench.specs",
    "Evaluation": "bell_bench.modular.evaluator",
    "Inputs": "bell_bench.problem",
    "KeepingAlgorithm": "bell_bench.keeping",
    "ModularAlgorithm": "bell_bench.modular.modular_algorithm",
    "Option": "bell_bench.specs",
    "ModulePath": "bell_bench.modular.path",
    "Problem": "bell_bench.problem",
    "Results": "bell_bench.results",
    "SharedAlgorithm": "bell_bench.modular.shared_algorithm",
    "Split": "bell_bench.problem",
    "SuiteSpec": "bell_bench.specs",
    "Training": "bell_bench.modular.shared_algorithm",
    "Unsupported": "bell_bench.errors",
    "UsageError": "bell_bench.errors",
    "hookimpl": "bell_bench.hookspecs",
    "hookspec": "bell_bench.hookspecs",
}
"""Where each name lives; those of the command line's functions live in ``bell_bench.api``."""


_RENAMED = {"Path": "ModulePath"}
"""Names of earlier releases, and what they are called now."""


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        warnings.warn(
            f"bell_bench.{name} is called bell_bench.{_RENAMED[name]} now",
            DeprecationWarning,
            stacklevel=2,
        )
        return __getattr__(_RENAMED[name])
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES.get(name, "bell_bench.api")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
