"""bell-bench: which continual-learning algorithm transfers what, and at which cost?

The names below are what a plugin author needs, and what the command line does, from Python. Each is
imported when it is first used, so that ``import bell_bench`` costs nothing and declaring a plugin
imports neither torch nor numpy.
"""

from __future__ import annotations

import importlib
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bell_bench.algorithm import Algorithm, Context
    from bell_bench.api import (
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
        plan,
        show,
        verify_data,
    )
    from bell_bench.data.domain import DomainSizes, SourceDomain
    from bell_bench.errors import BellBenchError, Unsupported, UsageError
    from bell_bench.files import read_json, read_tensors, write_json, write_tensors
    from bell_bench.harness.executor import LocalExecutor
    from bell_bench.hookspecs import hookimpl, hookspec
    from bell_bench.keeping import KeepingAlgorithm
    from bell_bench.modular.activations import Activations
    from bell_bench.modular.architecture import Architecture, ModuleSpec, Type
    from bell_bench.modular.augmentation import crop_and_mirror
    from bell_bench.modular.evaluator import Evaluation
    from bell_bench.modular.kind import Block, Weights
    from bell_bench.modular.learner import class_loss
    from bell_bench.modular.library import Library, Module, Solution
    from bell_bench.modular.modular_algorithm import ModularAlgorithm
    from bell_bench.modular.network import class_scores, new_weights, run_modules
    from bell_bench.modular.optimiser import Optimiser
    from bell_bench.modular.path import NEW, ModulePath
    from bell_bench.modular.settings import TrainingSettings
    from bell_bench.modular.shared_algorithm import SharedAlgorithm, Training
    from bell_bench.modular.training import deterministic
    from bell_bench.pictures import save_picture
    from bell_bench.problem import Inputs, Problem, Split
    from bell_bench.records import Job, Record, ResultStore, SolvedProblem
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
        SuiteSpec,
        VerbSpec,
    )
    from bell_bench.suites.base import ProblemSize, SequenceInfo
    from bell_bench.text import table
    from bell_bench.work import PlannedProblem, PlannedTrainings
    from bell_bench_authors.functions import check, new_algorithm
    from bell_bench_leaderboard.results import Results
    from bell_bench_paper.functions import ablate_density, ablate_nt_search, reproduce
    from bell_bench_submissions.functions import submit, validate

__version__ = "0.1.0"
"""The installed version."""

__all__ = [
    "NEW",
    "Activations",
    "Algorithm",
    "AlgorithmFamilySpec",
    "AlgorithmSpec",
    "Architecture",
    "BellBenchError",
    "Block",
    "Context",
    "DomainSizes",
    "DomainSpec",
    "Evaluation",
    "ExecutorSpec",
    "Inputs",
    "Job",
    "KeepingAlgorithm",
    "Library",
    "LocalExecutor",
    "ModularAlgorithm",
    "Module",
    "ModulePath",
    "ModuleSpec",
    "NoteSpec",
    "Optimiser",
    "Option",
    "PictureSpec",
    "PlannedProblem",
    "PlannedTrainings",
    "Problem",
    "ProblemSize",
    "Record",
    "ResultStore",
    "Results",
    "ResultsSpec",
    "SequenceInfo",
    "SharedAlgorithm",
    "Solution",
    "SolvedProblem",
    "SourceDomain",
    "SourceSpec",
    "Split",
    "SuiteSpec",
    "Training",
    "TrainingSettings",
    "Type",
    "Unsupported",
    "UsageError",
    "VerbSpec",
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
    "save_picture",
    "show",
    "submit",
    "table",
    "validate",
    "verify_data",
    "write_json",
    "write_tensors",
]

_HOMES = {
    "Activations": "bell_bench.modular.activations",
    "Algorithm": "bell_bench.algorithm",
    "AlgorithmFamilySpec": "bell_bench.specs",
    "AlgorithmSpec": "bell_bench.specs",
    "Architecture": "bell_bench.modular.architecture",
    "BellBenchError": "bell_bench.errors",
    "Block": "bell_bench.modular.kind",
    "Context": "bell_bench.algorithm",
    "DomainSizes": "bell_bench.data.domain",
    "DomainSpec": "bell_bench.specs",
    "Evaluation": "bell_bench.modular.evaluator",
    "ExecutorSpec": "bell_bench.specs",
    "Inputs": "bell_bench.problem",
    "Job": "bell_bench.records",
    "KeepingAlgorithm": "bell_bench.keeping",
    "Library": "bell_bench.modular.library",
    "LocalExecutor": "bell_bench.harness.executor",
    "ModularAlgorithm": "bell_bench.modular.modular_algorithm",
    "Module": "bell_bench.modular.library",
    "ModulePath": "bell_bench.modular.path",
    "ModuleSpec": "bell_bench.modular.architecture",
    "NEW": "bell_bench.modular.path",
    "NoteSpec": "bell_bench.specs",
    "Optimiser": "bell_bench.modular.optimiser",
    "Option": "bell_bench.specs",
    "PictureSpec": "bell_bench.specs",
    "PlannedProblem": "bell_bench.work",
    "PlannedTrainings": "bell_bench.work",
    "Problem": "bell_bench.problem",
    "ProblemSize": "bell_bench.suites.base",
    "Record": "bell_bench.records",
    "ResultStore": "bell_bench.records",
    "ResultsSpec": "bell_bench.specs",
    "SequenceInfo": "bell_bench.suites.base",
    "SharedAlgorithm": "bell_bench.modular.shared_algorithm",
    "Solution": "bell_bench.modular.library",
    "SolvedProblem": "bell_bench.records",
    "SourceDomain": "bell_bench.data.domain",
    "SourceSpec": "bell_bench.specs",
    "Split": "bell_bench.problem",
    "SuiteSpec": "bell_bench.specs",
    "Training": "bell_bench.modular.shared_algorithm",
    "TrainingSettings": "bell_bench.modular.settings",
    "Type": "bell_bench.modular.architecture",
    "Unsupported": "bell_bench.errors",
    "UsageError": "bell_bench.errors",
    "VerbSpec": "bell_bench.specs",
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
    "save_picture": "bell_bench.pictures",
    "table": "bell_bench.text",
    "write_json": "bell_bench.files",
    "write_tensors": "bell_bench.files",
}
"""Where each name lives; those of the command line's functions live in ``bell_bench.api``."""

_OF_PLUGINS = {"Results", "ablate_density", "ablate_nt_search", "check", "new_algorithm",
               "reproduce", "submit", "validate"}  # fmt: skip
"""Names that our own plugins provide, as others' plugins may provide more."""


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
    if name in _OF_PLUGINS or name not in __all__:
        return _of_a_plugin(name)
    value = getattr(importlib.import_module(_HOMES.get(name, "bell_bench.api")), name)
    globals()[name] = value
    return value


def _of_a_plugin(name: str) -> Any:
    """Return the function of a plugin's verb, or the class that shows results."""
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is None:
        from bell_bench.plugins import function_of_a_verb, registry

        found = registry().results() if name == "Results" else function_of_a_verb(name)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
