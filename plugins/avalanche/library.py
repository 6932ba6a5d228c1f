"""The only place that imports Avalanche, with the parts that we use. The import takes seconds, so
only jobs load this."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from bell_bench.compat import TorchvisionError, import_torchvision
from bell_bench.errors import BellBenchError
from bell_bench.import_strings import one_line

DISTRIBUTION = "avalanche-lib"


def import_avalanche() -> None:
    """Import Avalanche; raise BellBenchError with what is missing and what to do."""
    try:
        import_torchvision()
        with warnings.catch_warnings():  # it is about GEM, which the catalogue calls unsupported
            warnings.filterwarnings("ignore", "no QP solver found")
            importlib.import_module("avalanche.training")
    except TorchvisionError as error:
        raise BellBenchError(f"Avalanche needs torchvision: {error}") from error
    except Exception as error:
        raise BellBenchError(_advice(error)) from error


def _advice(error: Exception) -> str:
    missing = getattr(error, "name", None) or ""
    if missing.partition(".")[0] == "avalanche":
        return f"Avalanche is not installed: pip install {DISTRIBUTION}"
    return f"Avalanche cannot be imported ({one_line(error)}); other algorithms do not need it"


import_avalanche()

from avalanche.benchmarks.scenarios.dataset_scenario import (  # noqa: E402
    DatasetExperience,
    benchmark_from_datasets,
)
from avalanche.benchmarks.scenarios.supervised import with_classes_timeline  # noqa: E402
from avalanche.benchmarks.scenarios.task_aware import with_task_labels  # noqa: E402
from avalanche.benchmarks.utils.classification_dataset import (  # noqa: E402
    TaskAwareSupervisedClassificationDataset,
)
from avalanche.benchmarks.utils.data import AvalancheDataset  # noqa: E402
from avalanche.benchmarks.utils.data_attribute import DataAttribute, TaskLabels  # noqa: E402
from avalanche.benchmarks.utils.data_loader import MultiDatasetDataLoader  # noqa: E402
from avalanche.benchmarks.utils.flat_data import ConstantSequence  # noqa: E402
from avalanche.benchmarks.utils.utils import concat_datasets  # noqa: E402
from avalanche.models.dynamic_modules import MultiTaskModule  # noqa: E402
from avalanche.training.plugins.evaluation import EvaluationPlugin  # noqa: E402
from avalanche.training.plugins.mir import cycle  # noqa: E402
from avalanche.training.plugins.strategy_plugin import SupervisedPlugin  # noqa: E402
from avalanche.training.plugins.synaptic_intelligence import (  # noqa: E402
    SynapticIntelligencePlugin,
)
from avalanche.training.templates import SupervisedTemplate  # noqa: E402
from avalanche.training.templates.base import BaseTemplate  # noqa: E402
from avalanche.training.utils import trigger_plugins  # noqa: E402


def _copying(extract: Callable[..., None]) -> Callable[..., None]:
    def extract_weights(model: Any, target: dict[str, Any], excluded: set[str]) -> None:
        extract(model, target, excluded)
        for held in target.values():
            held.data = held.data.clone()

    return extract_weights


# On the CPU, Synaptic Intelligence's copies of the weights are views of them. So no weight seems to
# move, none is important, and the strategy is the same as Naive (avalanche-lib 0.6.0).
SynapticIntelligencePlugin.extract_weights = staticmethod(
    _copying(SynapticIntelligencePlugin.extract_weights)
)

__all__ = [
    "AvalancheDataset",
    "BaseTemplate",
    "ConstantSequence",
    "DataAttribute",
    "DatasetExperience",
    "EvaluationPlugin",
    "MultiDatasetDataLoader",
    "MultiTaskModule",
    "SupervisedPlugin",
    "SupervisedTemplate",
    "TaskAwareSupervisedClassificationDataset",
    "TaskLabels",
    "benchmark_from_datasets",
    "concat_datasets",
    "cycle",
    "import_avalanche",
    "trigger_plugins",
    "with_classes_timeline",
    "with_task_labels",
]
