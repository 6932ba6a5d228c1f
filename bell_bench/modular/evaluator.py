"""TrainAndEvaluate as algorithms call it: from a path to its figures, computed only once."""

from __future__ import annotations

import functools
import json
import math
import operator
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import Any

import safetensors.torch
import torch

from bell_bench.cpu_determinism import HELD
from bell_bench.files import hash_json
from bell_bench.memory import PEAK
from bell_bench.modular.blocks import Weights
from bell_bench.modular.evaluations import EvaluationStore
from bell_bench.modular.library import Library, Module
from bell_bench.modular.path import NEW, ModulePath
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import DivergenceWarning, Trained, train
from bell_bench.problem import Problem
from bell_bench.source_hash import source_hash

TRAINING_VERSION = 2
"""Part of every evaluation's identity; raise it if the training code would give other numbers."""


@dataclass(frozen=True)
class EvaluationCost:
    """The cost of an evaluation when it was computed, charged to every job that asks for it."""

    updates: int
    train_flops: float
    inference_flops: float
    seconds: float
    cpu_seconds: float
    memory_bytes: int
    """How much more memory training took than was held when it began."""


@dataclass(frozen=True)
class Charges:
    """The amounts charged to a job. They can be added, subtracted and stored for a resume.

    An evaluation found in the store is charged at its recorded cost. So the wall time of an
    algorithm is what the job really took, minus ``spent_seconds``, plus ``seconds``; and its CPU
    time likewise.
    """

    paths_evaluated: int = 0
    """How many evaluations were asked for."""
    paths_trained: int = 0
    """How many of these had something to train, now or when they were computed."""
    paths_computed: int = 0
    """How many of these this job computed: not in the store, or removed when needed again."""
    updates: int = 0
    train_flops: float = 0.0
    inference_flops: float = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    spent_seconds: float = 0.0
    """Wall seconds that evaluations really took: training, reading, waiting."""
    spent_cpu_seconds: float = 0.0

    def __add__(self, other: Charges) -> Charges:
        return Charges(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: Charges) -> Charges:
        return Charges(*map(operator.sub, astuple(self), astuple(other)))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Charges:
        return Charges(**data)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A path's figures on a problem; the weights of its modules are read on demand."""

    path: ModulePath
    accuracy: float
    """Accuracy on validation, in [0, 1]; zero if training diverged."""
    loss: float
    """Loss on validation; infinite if training diverged."""
    diverged: bool
    cost: EvaluationCost
    epochs: int
    flop_coverage: float
    """The share of executed operators whose FLOPs could be counted."""
    uncounted: tuple[str, ...]
    """The operators without a formula."""
    history: tuple[tuple[int, float, float], ...]
    """Every validation: updates before it, loss, accuracy."""
    hit: bool
    """Whether it was found in the store, not trained for this call."""
    _load: Callable[[int], Weights] = field(repr=False)

    def weights(self, layer: int) -> Weights:
        """Return the weights of the module in this layer, new or reused, read now, on the CPU."""
        return self._load(layer)


class Evaluator:
    """Evaluates paths for one job: looks in the store, trains what is missing, adds up the charges.

    To ask again for a path on the same problem is free: its evaluation is remembered until the next
    problem.
    """

    def __init__(
        self,
        store: EvaluationStore,
        library: Library,
        settings: TrainingSettings,
        *,
        seed: int,
        device: torch.device | str,
        protocol: str,
        dtype: torch.dtype = torch.float32,
        charges: Charges | None = None,
        train: Callable[..., Trained] = train,
    ) -> None:
        self.store = store
        self.library = library
        self.settings = settings
        self.seed = seed
        self.device = torch.device(device)
        self.protocol = protocol
        self.dtype = dtype
        self.charges = charges or Charges()
        """All charges so far; pass the earlier charges when a job resumes."""
        self._train = train
        self._problem: tuple[int, str] | None = None
        self._remembered: dict[ModulePath, Evaluation] = {}

    def evaluate(self, path: ModulePath, problem: Problem) -> Evaluation:
        """Train the path's new modules on the problem, or return the stored evaluation."""
        if self._problem != (problem.index, problem.fingerprint):
            self._problem = problem.index, problem.fingerprint
            self._remembered.clear()
        if path not in self._remembered:
            with self.spending():
                evaluation = self._evaluate(path, problem)
            self._remembered[path] = evaluation
            self._charge(evaluation)
        return self._remembered[path]

    def _charge(self, evaluation: Evaluation) -> None:
        amounts = asdict(evaluation.cost)
        memory = amounts.pop("memory_bytes")
        if evaluation.hit:
            PEAK.charge(memory)
        trained = int(evaluation.cost.updates > 0)
        self.charges += Charges(paths_evaluated=1, paths_trained=trained, **amounts)

    def _identity(self, modules: tuple[Module | None, ...], problem: Problem) -> dict[str, Any]:
        """Return all that determines an evaluation, JSON-able; its hash is the store's key."""
        kinds = (spec.kind for spec in problem.architecture.modules)
        own = {kind: _source(kind) for kind in kinds if ":" in kind}
        return {
            **({"kinds": own} if own else {}),
            "problem": problem.fingerprint,
            "architecture": problem.architecture.key,
            "path": [module.hash if module else NEW for module in modules],
            "settings": asdict(self.settings),
            "protocol": self.protocol,
            "seed": self.seed,
            "torch": torch.__version__,
            "device": _device_name(self.device),
            "threads": torch.get_num_threads(),
            "dtype": str(self.dtype).removeprefix("torch."),
            "version": TRAINING_VERSION,
        }

    def key(self, path: ModulePath, problem: Problem) -> str:
        """Return the key under which the store keeps this evaluation."""
        modules = self.library.resolve(path, problem.architecture)
        return hash_json(self._identity(modules, problem))

    def _evaluate(self, path: ModulePath, problem: Problem) -> Evaluation:
        modules = self.library.resolve(path, problem.architecture)
        identity = self._identity(modules, problem)
        key = hash_json(identity)

        def compute() -> bytes:
            return self._compute(modules, identity, problem)

        def load(layer: int) -> Weights:
            module = modules[layer]
            if module:
                return self.library.weights(module.name)
            if not entry.stored:
                return _layer(entry.content, layer)
            with self.spending():  # trained once more if it was removed meanwhile
                return _layer(self.store.get_or_compute(key, compute)[0].content, layer)

        entry, hit = self.store.get_or_compute(key, compute)
        evaluation = _evaluation(path, entry.record, hit, load)
        if entry.stored:
            entry = replace(entry, content=b"")  # weights are read again when wanted
        if evaluation.diverged and hit:  # a training would have warned already
            warnings.warn(
                f"path «{path}» diverged on problem {problem.index + 1} ({problem.name}): "
                "it scores 0",
                DivergenceWarning,
                stacklevel=4,
            )
        return evaluation

    def _compute(
        self, modules: tuple[Module | None, ...], identity: dict[str, Any], problem: Problem
    ) -> bytes:
        frozen = {
            layer: self.library.weights(module.name)
            for layer, module in enumerate(modules)
            if module
        }
        with PEAK.extra() as memory:
            trained = self._train(
                problem,
                frozen,
                self.settings,
                seed=derive_seed("batches", problem.fingerprint, self.seed),
                init_seed=derive_seed("weights", problem.fingerprint, identity["path"], self.seed),
                device=self.device,
                dtype=self.dtype,
            )
        self.charges += Charges(paths_computed=1)
        return _serialise(identity, trained, memory[0])

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Add the time that really passes to the charges, even if an exception is raised."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.charges += Charges(
                spent_seconds=time.perf_counter() - wall,
                spent_cpu_seconds=time.process_time() - cpu,
            )


def derive_seed(*parts: Any) -> int:
    """Return a seed that depends on the given JSON-able parts alone, the same on every machine."""
    return int(hash_json(parts)[:15], 16)


def _serialise(identity: Mapping[str, Any], trained: Trained, memory: int) -> bytes:
    """Return an entry of the store: the new modules' weights and a JSON record."""
    record = {
        "identity": identity,
        "figures": {
            "accuracy": trained.accuracy,
            "loss": _plain(trained.loss),
            "diverged": trained.diverged,
            "epochs": trained.epochs,
            "flop_coverage": trained.flop_coverage,
            "uncounted": list(trained.uncounted),
        },
        "cost": asdict(
            EvaluationCost(
                trained.updates,
                trained.train_flops,
                trained.inference_flops,
                trained.seconds,
                trained.cpu_seconds,
                memory,
            )
        ),
        "history": [[row[0], _plain(row[1]), _plain(row[2])] for row in trained.history],
    }
    tensors = {
        f"{layer}/{name}": tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for layer, weights in trained.weights.items()
        for name, tensor in weights.items()
    }
    text = json.dumps(record, allow_nan=False)
    content: bytes = safetensors.torch.save(tensors, metadata={"record": text})
    return content


def _layer(content: bytes, layer: int) -> Weights:
    prefix = f"{layer}/"
    tensors: Weights = safetensors.torch.load(content)
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def _evaluation(
    path: ModulePath, record: Mapping[str, Any], hit: bool, load: Callable[[int], Weights]
) -> Evaluation:
    figures = record["figures"]
    return Evaluation(
        path=path,
        accuracy=figures["accuracy"],
        loss=float(figures["loss"]),
        diverged=figures["diverged"],
        cost=EvaluationCost(**record["cost"]),
        epochs=figures["epochs"],
        flop_coverage=figures["flop_coverage"],
        uncounted=tuple(figures["uncounted"]),
        history=tuple((row[0], float(row[1]), float(row[2])) for row in record["history"]),
        hit=hit,
        _load=load,
    )


def _plain(number: float) -> float | str:
    """Return a number as JSON can write it, without NaN and infinity; ``float`` reads it back."""
    return number if math.isfinite(number) else str(number)


@functools.cache
def _source(kind: str) -> str:
    """Return a hash of the source of a suite's own kind of module, so that editing it counts."""
    return source_hash(kind)


def _device_name(device: torch.device) -> str:
    """Return the kind of device. Two GPUs of one model are equal, and so are processors whose
    kernels use the same instructions."""
    if device.type == "cuda":
        return f"cuda {torch.cuda.get_device_name(device)}"
    if device.type == "cpu":
        limit = os.environ.get("ONEDNN_MAX_CPU_ISA", "").replace(HELD["ONEDNN_MAX_CPU_ISA"], "")
        return f"cpu {torch.backends.cpu.get_cpu_capability()} {limit}".strip()
    return device.type
