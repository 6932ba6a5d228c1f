"""The library: a job's frozen modules and solutions, kept on disk and read only when used."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from bell_bench.errors import BellBenchError, UsageError, unknown
from bell_bench.files import LARGEST_WEIGHTS, hash_json, read_json, read_whole, write_whole
from bell_bench.modular.architecture import Architecture, ModuleSpec
from bell_bench.modular.blocks import Weights, block
from bell_bench.modular.path import NEW, ModulePath
from bell_bench.problem import Problem

if TYPE_CHECKING:
    from bell_bench.modular.evaluator import Evaluation

_VERSION = 1
_HASH = re.compile(r"[0-9a-f]{64}")
_ATTACHMENT = "attachment"
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, IndexError)
"""The exceptions raised when data does not have the expected form."""


@dataclass(frozen=True)
class Attachment:
    """A tensor that an algorithm stores with a module: input statistics, stored inputs."""

    hash: str
    bytes: int


@dataclass(frozen=True)
class Module:
    """A frozen module: its spec and its origin. Its weights stay on disk."""

    name: str
    """A name for people, counted from 1: ``3.2`` is layer 2 of the third problem's network."""
    spec: ModuleSpec
    hash: str
    """A hash of the spec and every weight."""
    origin: int
    """The index of the problem it was trained on, from 0."""
    layer: int
    """The layer in that problem's network, from 0."""
    accuracy: float
    """Validation accuracy, in [0, 1], of the solution it came from."""
    parameters: int
    """How many numbers were trained."""
    bytes: int
    """Bytes of its weights, buffers included."""
    attachments: Mapping[str, Attachment] = field(default_factory=dict)


@dataclass(frozen=True)
class Solution:
    """The solution of a learnt problem: one module name per layer."""

    problem: int
    """The problem's index, from 0."""
    architecture: Architecture
    names: tuple[str, ...]
    accuracy: float
    """Accuracy on validation, in [0, 1]."""
    path: ModulePath
    """The path that was evaluated: which modules were reused and which were new."""
    hash: str
    """A hash of its modules' hashes."""


class Library:
    """A job's own modules, in the order they were added.

    Weights are files named by their hash, never overwritten, and checked when read. So an index
    saved earlier stays valid, and a resumed job uses the index in its checkpoint. Memory does not
    grow with the weights: only the index is kept.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(folder)
        self._modules: dict[str, Module] = {}
        self._solutions: list[Solution] = []

    @property
    def modules(self) -> tuple[Module, ...]:
        """All modules, in the order they were added."""
        return tuple(self._modules.values())

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """One per learnt problem, in the order they were learnt."""
        return tuple(self._solutions)

    def solution(self, problem: int) -> Solution:
        """Return the solution of the problem with this index."""
        for solution in self._solutions:
            if solution.problem == problem:
                return solution
        raise UsageError(f"problem {problem + 1} has no solution yet")

    def __len__(self) -> int:
        return len(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __getitem__(self, name: str) -> Module:
        try:
            return self._modules[name]
        except KeyError:
            raise unknown("library module", name, self._modules) from None

    def candidates(self, spec: ModuleSpec) -> list[Module]:
        """Return the modules that fit where ``spec`` does, in the order they were added."""
        return [module for module in self._modules.values() if module.spec == spec]

    def resolve(self, path: ModulePath, architecture: Architecture) -> tuple[Module | None, ...]:
        """Return the path's module per layer, or None where a new one is to be trained.

        Raise UsageError if the path does not fit: wrong length, a missing module, or a wrong type.
        """
        if len(path) != len(architecture):
            raise UsageError(
                f"path «{path}» names {len(path)} modules, "
                f"but the problem's network has {len(architecture)}"
            )
        return tuple(
            None if name == NEW else self._fitting(name, spec, layer)
            for layer, (name, spec) in enumerate(zip(path, architecture.modules, strict=True))
        )

    def _fitting(self, name: str, spec: ModuleSpec, layer: int) -> Module:
        module = self._modules.get(name)
        if module and module.spec == spec:
            return module
        fitting = [candidate.name for candidate in self.candidates(spec)]
        if module is None:
            none = "" if fitting else "(the library has none for this layer)"
            raise unknown(f"library module for layer {layer + 1}", name, fitting, none)
        raise UsageError(
            f"module {name} does not fit layer {layer + 1}: it is «{module.spec}», "
            f"the layer needs «{spec}»; fitting: {', '.join(fitting) or 'none'}"
        )

    def add(self, problem: Problem, evaluation: Evaluation) -> tuple[str, ...]:
        """Record the winning evaluation as the problem's solution, and add its new modules.

        Return the solution's module names, one per layer.
        """
        if any(solution.problem == problem.index for solution in self._solutions):
            raise UsageError(f"problem {problem.index + 1} already has a solution")
        architecture, path = problem.architecture, evaluation.path
        reused = self.resolve(path, architecture)
        modules = [
            module or self._write(evaluation.weights(layer), problem, layer, evaluation.accuracy)
            for layer, module in enumerate(reused)
        ]
        self._modules.update((module.name, module) for module in modules)
        solution = Solution(
            problem=problem.index,
            architecture=architecture,
            names=tuple(module.name for module in modules),
            accuracy=evaluation.accuracy,
            path=path,
            hash=hash_json([module.hash for module in modules]),
        )
        self._solutions.append(solution)
        return solution.names

    def _write(self, weights: Weights, problem: Problem, layer: int, accuracy: float) -> Module:
        spec = problem.architecture[layer]
        content_hash = hash_weights(weights, spec)
        write_whole(self._file(content_hash), _serialise(weights))
        return Module(
            name=f"{problem.index + 1}.{layer + 1}",
            spec=spec,
            hash=content_hash,
            origin=problem.index,
            layer=layer,
            accuracy=accuracy,
            parameters=_count(weights, spec),
            bytes=_size(weights),
        )

    def weights(self, name: str) -> Weights:
        """Return the module's weights on the CPU, read and checked now; do not keep them long."""
        module = self[name]
        return self._read(module.hash, module.spec)

    def file(self, module: Module) -> pathlib.Path:
        """Return the file of a module's weights."""
        return self._file(module.hash)

    def borrow(self, modules: Iterable[Module]) -> None:
        """Use another library's modules, and no others; their files must already be here."""
        self._modules = {module.name: module for module in modules}
        self._solutions = []

    def attach(self, name: str, key: str, tensor: Tensor) -> None:
        """Store a tensor with the module, under a key that the algorithm chooses."""
        module = self[name]
        weights = {_ATTACHMENT: tensor}
        attachment = Attachment(hash_weights(weights), _size(weights))
        write_whole(self._file(attachment.hash), _serialise(weights))
        attachments = {**module.attachments, key: attachment}
        self._modules[name] = replace(module, attachments=attachments)

    def attached(self, name: str, key: str) -> Tensor:
        """Return the tensor that was attached to the module under this key."""
        attachments = self[name].attachments
        if key not in attachments:
            raise unknown(f"attachment of module {name}", key, attachments)
        return self._read(attachments[key].hash)[_ATTACHMENT]

    @property
    def parameters(self) -> int:
        return sum(module.parameters for module in self._modules.values())

    @property
    def weight_bytes(self) -> int:
        return sum(module.bytes for module in self._modules.values())

    @property
    def attached_bytes(self) -> int:
        return sum(
            attachment.bytes
            for module in self._modules.values()
            for attachment in module.attachments.values()
        )

    @property
    def bytes(self) -> int:
        """The bytes of all that is stored: weights and attachments."""
        return self.weight_bytes + self.attached_bytes

    def save(self, index: str | os.PathLike[str] | None = None) -> None:
        """Write the index, by default to ``index.json`` in the library's folder."""
        content = {
            "modules": [_module_to_json(module) for module in self._modules.values()],
            "solutions": [_solution_to_json(solution) for solution in self._solutions],
        }
        data = {"version": _VERSION, "hash": hash_json(content), **content}
        write_whole(self._index(index), json.dumps(data, indent=1, allow_nan=False).encode())

    def load(self, index: str | os.PathLike[str] | None = None) -> None:
        """Restore the state that an index describes; weights are checked when they are read."""
        file = self._index(index)
        try:
            data = read_json(file)
            if data["version"] != _VERSION:
                raise ValueError(f"version {data['version']}, not {_VERSION}")
            content = {"modules": data["modules"], "solutions": data["solutions"]}
            if data["hash"] != hash_json(content):
                raise ValueError("its hash does not match")
            modules = {item["name"]: _module_from_json(item) for item in data["modules"]}
            solutions = [_solution_from_json(item) for item in data["solutions"]]
        except FileNotFoundError:
            raise BellBenchError(f"there is no library index {file}") from None
        except (BellBenchError, *_MALFORMED) as error:
            raise BellBenchError(f"library index {file} is damaged: {error}") from error
        self._modules, self._solutions = modules, solutions

    def verify(self) -> None:
        """Read all files that the index names; raise BellBenchError at the first damaged one."""
        for module in self._modules.values():
            self._read(module.hash, module.spec)
            for attachment in module.attachments.values():
                self._read(attachment.hash)

    def _index(self, index: str | os.PathLike[str] | None) -> pathlib.Path:
        return self.folder / "index.json" if index is None else pathlib.Path(index)

    def _file(self, content_hash: str) -> pathlib.Path:
        return self.folder / f"{content_hash}.safetensors"

    def _read(self, content_hash: str, spec: ModuleSpec | None = None) -> Weights:
        file = self._file(content_hash)
        try:
            weights: Weights = safetensors.torch.load(read_whole(file, LARGEST_WEIGHTS))
        except FileNotFoundError:
            raise BellBenchError(f"library file {file} is missing") from None
        except (SafetensorError, RuntimeError, *_MALFORMED) as error:
            raise BellBenchError(f"library file {file} is damaged: {error}") from error
        if hash_weights(weights, spec) != content_hash:
            raise BellBenchError(
                f"library file {file} is damaged: its content does not match its hash"
            )
        return weights


def hash_weights(weights: Mapping[str, Tensor], spec: ModuleSpec | None = None) -> str:
    """Return a hash of values, shapes, types and names, and of the spec they belong to."""
    digest = hashlib.sha256(hash_json(spec.to_json() if spec else None).encode())
    for name, tensor in sorted(weights.items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _serialise(weights: Mapping[str, Tensor]) -> bytes:
    tensors = {name: tensor.detach().cpu().clone() for name, tensor in weights.items()}
    content: bytes = safetensors.torch.save(
        {name: tensor.contiguous() for name, tensor in tensors.items()}
    )
    return content


def _count(weights: Weights, spec: ModuleSpec) -> int:
    buffers = block(spec).buffers
    return sum(tensor.numel() for name, tensor in weights.items() if name not in buffers)


def _size(weights: Mapping[str, Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in weights.values())


def _module_to_json(module: Module) -> dict[str, Any]:
    attachments = {key: asdict(value) for key, value in module.attachments.items()}
    return {**vars(module), "spec": module.spec.to_json(), "attachments": attachments}


def _module_from_json(data: Mapping[str, Any]) -> Module:
    attachments = {key: Attachment(**value) for key, value in data["attachments"].items()}
    module = Module(
        **{**data, "spec": ModuleSpec.from_json(data["spec"]), "attachments": attachments}
    )
    for content_hash in [module.hash, *(item.hash for item in attachments.values())]:
        if not _HASH.fullmatch(content_hash):
            raise ValueError(f"{content_hash!r} is not a hash")
    return module


def _solution_to_json(solution: Solution) -> dict[str, Any]:
    return {
        "problem": solution.problem,
        "architecture": solution.architecture.to_json(),
        "names": list(solution.names),
        "accuracy": solution.accuracy,
        "path": list(solution.path),
        "hash": solution.hash,
    }


def _solution_from_json(data: Mapping[str, Any]) -> Solution:
    return Solution(
        problem=data["problem"],
        architecture=Architecture.from_json(data["architecture"]),
        names=tuple(data["names"]),
        accuracy=data["accuracy"],
        path=ModulePath(tuple(data["path"])),
        hash=data["hash"],
    )
