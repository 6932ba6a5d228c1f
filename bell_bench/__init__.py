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
    from bell_bench.files import read_json, read_tensors, write_json, write_tensors
    from bell_bench.hookspecs import hookimpl, hookspec
    from bell_bench.keeping import KeepingAlgorithm
    from bell_bench.modular.activations import Activations
    from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
    from bell_bench.modular.augmentation import crop_and_mirror
    from bell_bench.modular.evaluator import Evaluation
    from bell_bench.modular.kind import Weights
    from bell_bench.modular.learner import class_loss
    from bell_bench.modular.library import Library, Module, Solution
    from bell_bench.modular.modular_algorithm import ModularAlgorithm
    from bell_bench.modular.network import class_scores, new_weights, run_modules
    from bell_bench.modular.optimiser import Optimiser
    from bell_bench.modular.path import NEW, ModulePath
    from bell_bench.modular.settings import TrainingSettings
    from bell_bench.modular.shared_algorithm import SharedAlgorithm, Training
    from bell_bench.modular.training import deterministic
    from bell_bench.problem import Inputs, Problem, Split
    from bell_bench.results import Results
    from bell_bench.specs import AlgorithmSpec, DomainSpec, Option, SuiteSpec
    from bell_bench.suites.base import ProblemSize, SequenceInfo
    from bell_bench.work import PlannedProblem, PlannedTrainings

__version__ = "0.1.0"
"""The installed version."""

__all__ = [
    "NEW",
    "Activations",
    "Algorithm",
    "AlgorithmSpec",
    "Architecture",
    "BellBenchError",
    "Context",
    "DomainSpec",
    "Evaluation",
    "Inputs",
    "KeepingAlgorithm",
    "Library",
    "ModularAlgorithm",
    "Module",
    "ModulePath",
    "ModuleSpec",
    "Optimiser",
    "Option",
    "PlannedProblem",
    "PlannedTrainings",
    "Problem",
    "ProblemSize",
    "Results",
    "SequenceInfo",
    "SharedAlgorithm",
    "Solution",
    "Split",
    "SuiteSpec",
    "Training",
    "TrainingSettings",
    "Type",
    "Unsupported",
    "UsageError",
    "Weights",
    "__version__",
    "ablate_density",
    "ablate_nt_search",
    "check",
    "class_loss",
    "class_scores",
    "crop_and_mirror",
    "data_status",
    "describe",
    "deterministic",
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
    "new_weights",
    "plan",
    "read_json",
    "read_tensors",
    "reproduce",
    "run_modules",
    "show",
    "submit",
    "validate",
    "verify_data",
    "write_json",
    "write_tensors",
]

_HOMES = {
    "NEW": "bell_bench.modular.path",
    "Activations": "bell_bench.modular.activations",
    "Algorithm": "bell_bench.algorithm",
    "AlgorithmSpec": "bell_bench.specs",
    "Architecture": "bell_bench.modular.architecture",
    "BellBenchError": "bell_bench.errors",
    "Context": "bell_bench.algorithm",
    "DomainSpec": "bell_bench.specs",
    "Evaluation": "bell_bench.modular.evaluator",
    "Inputs": "bell_bench.problem",
    "KeepingAlgorithm": "bell_bench.keeping",
    "Library": "bell_bench.modular.library",
    "ModularAlgorithm": "bell_bench.modular.modular_algorithm",
    "Module": "bell_bench.modular.library",
    "ModulePath": "bell_bench.modular.path",
    "ModuleSpec": "bell_bench.modular.architecture",
    "Optimiser": "bell_bench.modular.optimiser",
    "Option": "bell_bench.specs",
    "PlannedProblem": "bell_bench.work",
    "PlannedTrainings": "bell_bench.work",
    "Problem": "bell_bench.problem",
    "ProblemSize": "bell_bench.suites.base",
    "Results": "bell_bench.results",
    "SequenceInfo": "bell_bench.suites.base",
    "SharedAlgorithm": "bell_bench.modular.shared_algorithm",
    "Solution": "bell_bench.modular.library",
    "Split": "bell_bench.problem",
    "SuiteSpec": "bell_bench.specs",
    "Training": "bell_bench.modular.shared_algorithm",
    "TrainingSettings": "bell_bench.modular.settings",
    "Type": "bell_bench.modular.architecture",
    "Unsupported": "bell_bench.errors",
    "UsageError": "bell_bench.errors",
    "Weights": "bell_bench.modular.kind",
    "class_loss": "bell_bench.modular.learner",
    "class_scores": "bell_bench.modular.network",
    "crop_and_mirror": "bell_bench.modular.augmentation",
    "deterministic": "bell_bench.modular.training",
    "hookimpl": "bell_bench.hookspecs",
    "hookspec": "bell_bench.hookspecs",
    "new_weights": "bell_bench.modular.network",
    "read_json": "bell_bench.files",
    "read_tensors": "bell_bench.files",
    "run_modules": "bell_bench.modular.network",
    "write_json": "bell_bench.files",
    "write_tensors": "bell_bench.files",
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
