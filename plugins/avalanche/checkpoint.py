"""A strategy between two problems as plain files: JSON and safetensors, never pickle.

A walk over the strategy's attributes and plugins stores what it knows: numbers, texts, tensors,
containers, models, the optimiser, stored examples, and Avalanche's own objects by their attributes.
It is restored into a strategy that was built anew, in place wherever there is something already, so
that what its parts share they share again. Whatever else it meets makes it ``Unstorable``.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from bell_bench.errors import BellBenchError
from bell_bench.files import read_json, read_tensors, write_json, write_tensors
from bell_bench.problem import Split
from bell_bench_avalanche.data import Items, Task, collate, items_of, make_dataset
from bell_bench_avalanche.library import (
    AvalancheDataset,
    EvaluationPlugin,
    MultiDatasetDataLoader,
    concat_datasets,
    cycle,
)
from bell_bench_avalanche.model import MultiHead, TypedModel

_OBJECTS, _TENSORS = "strategy.json", "strategy.safetensors"
_APART = {"model", "optimizer", "optimized_param_id"}
"""Attributes of a strategy that are stored in another way."""
_PASSING = {
    "experience", "current_eval_stream", "_eval_streams", "adapted_dataset", "dataloader", "mbatch",
    "mb_output", "loss",
}  # fmt: skip
"""Attributes of a strategy that mean nothing between two problems."""
_FUNCTIONS: dict[str, Callable[..., Any]] = {"collate": collate, "zeros": torch.zeros}


class Unstorable(Exception):
    """Something that cannot be written without pickle; the message says what and where."""


def save(folder: pathlib.Path, strategy: Any) -> None:
    """Write a strategy that is between two problems."""
    writer = Writer()
    names = {id(p): name for name, p in strategy.model.named_parameters()}
    optimiser = strategy.optimizer
    kept = {k: v for k, v in vars(strategy).items() if k not in _APART | _PASSING}
    objects = {
        "model": writer.node(strategy.model, "model"),
        "attributes": writer.node(kept, type(strategy).__name__),
        "optimised": [[names[id(p)] for p in each["params"]] for each in optimiser.param_groups],
        "optimiser": writer.node(
            {names[id(p)]: state for p, state in optimiser.state.items() if state}, "optimizer"
        ),
    }
    objects["sources"] = writer.sources()
    write_tensors(folder / _TENSORS, writer.tensors)
    write_json(folder / _OBJECTS, objects)


def load(folder: pathlib.Path, strategy: Any, tasks: list[Task]) -> None:
    """Restore what ``save`` wrote into a strategy whose model knows the same tasks."""
    objects = read_json(folder / _OBJECTS)
    reader = Reader(read_tensors(folder / _TENSORS), objects["sources"], tasks, strategy)
    strategy.model = reader.value(objects["model"], strategy.model)
    attributes = reader.value(objects["attributes"], dict(vars(strategy)))
    vars(strategy).update(attributes)
    parameters = dict(strategy.model.named_parameters())
    optimiser = strategy.optimizer
    optimiser.state.clear()
    for group, names in zip(optimiser.param_groups, objects["optimised"], strict=True):
        group["params"] = [parameters[name] for name in names]
    for name, state in reader.value(objects["optimiser"]).items():
        optimiser.state[parameters[name]] = state
    ordered = [name for names in objects["optimised"] for name in names]
    strategy.optimized_param_id = {name: parameters[name] for name in ordered}


class Writer:
    """Values as JSON, with tensors and stored examples beside it."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.names: dict[int, tuple[str, Tensor]] = {}
        """By identity, which is theirs as long as they are kept here."""
        self.splits: dict[int, tuple[int, Items, dict[int, int]]] = {}
        """By identity: which source it is, whose examples are stored, where each item went."""
        self.within: list[int] = []

    def node(self, value: Any, where: str) -> Any:
        """A value as JSON: itself if it is plain, else an object with one key, its kind."""
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, Tensor):
            return {"tensor": self.tensor(value), "cpu": value.device.type == "cpu"}
        if isinstance(value, np.ndarray):
            return {"array": self.tensor(torch.from_numpy(np.ascontiguousarray(value)))}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if id(value) in self.within:
            raise Unstorable(f"{where} contains itself")
        self.within.append(id(value))
        made = self.whole(value, where)
        self.within.pop()
        return made

    def whole(self, value: Any, where: str) -> Any:
        """What has parts."""
        if isinstance(value, dict):
            pairs = value.items()
            return {"dict": [[self.node(k, where), self.node(v, f"{where}.{k}")] for k, v in pairs]}
        for name, kind in (("list", list), ("tuple", tuple), ("set", set)):
            if isinstance(value, kind):
                parts = enumerate(value)
                return {name: [self.node(part, f"{where}[{i}]") for i, part in parts]}
        if isinstance(value, TypedModel):
            return {"model": self.model(value, where)}
        if isinstance(value, nn.Module):
            return {"module": self.node(dict(value.state_dict()), where)}
        if isinstance(value, AvalancheDataset):
            return {"dataset": self.dataset(value, where)}
        if inspect.isgenerator(value):
            return self.generator(value, where)
        return self.other(value, where)

    def other(self, value: Any, where: str) -> Any:
        kind = type(value)
        if kind.__module__.startswith(f"{__package__}.") or kind is EvaluationPlugin:
            return {"anew": kind.__name__}
        for name, function in _FUNCTIONS.items():
            if value is function:
                return {"function": name}
        if kind.__module__.startswith("avalanche.") and hasattr(value, "__dict__"):
            state = {k: self.node(v, f"{where}.{k}") for k, v in vars(value).items()}
            return {"object": f"{kind.__module__}:{kind.__qualname__}", "state": state}
        raise Unstorable(f"{where} is a {kind.__module__}.{kind.__qualname__}")

    def tensor(self, value: Tensor) -> str:
        name, _ = self.names.setdefault(id(value), (str(len(self.names)), value))
        self.tensors[name] = value
        return name

    def model(self, model: TypedModel, where: str) -> dict[str, Any]:
        """A model by its tasks and weights; it can be built again from these."""
        plain = {
            k: v
            for k, v in vars(model).items()
            if not k.startswith("_") and k not in ("seed", "tasks", "training")
        }
        return {
            "tasks": list(model.tasks),
            "training": model.training,
            "frozen": not any(p.requires_grad for p in model.parameters()),
            "attributes": self.node(plain, where),
            "weights": self.node(dict(model.state_dict()), where),
        }

    def dataset(self, dataset: Any, where: str) -> str:
        """Stored examples: rows (source, number), of whose items only these are kept."""
        rows = []
        for items, number in items_of(dataset):
            if not isinstance(items, Items):
                raise Unstorable(f"{where} has examples of a {type(items).__name__}")
            known = self.splits.setdefault(id(items), (len(self.splits), items, {}))
            source, _, places = known
            rows.append((source, places.setdefault(number, len(places))))
        return self.tensor(torch.tensor(rows, dtype=torch.int64).reshape(-1, 2))

    def generator(self, value: Any, where: str) -> Any:
        """A loader that has not begun; it can be made again of what it was made of."""
        if inspect.getgeneratorstate(value) == inspect.GEN_CREATED:
            given = value.gi_frame.f_locals
            if value.gi_code is cycle.__code__:
                loader = given["loader"]
                return {
                    "cycle": self.node(loader.dataset, f"{where}.dataset"),
                    "batch": loader.batch_size,
                }
            if isinstance(given.get("self"), MultiDatasetDataLoader):
                return {"iterator": self.node(given["self"], where)}
        raise Unstorable(f"{where} is a generator {value.__qualname__}")

    def sources(self) -> list[dict[str, Any]]:
        """The splits whose examples are stored, cut down to these."""
        found = []
        for _, items, places in self.splits.values():
            split = items.inputs
            assert isinstance(split, Split)
            cut = split.subset(list(places))
            arrays = {"images": cut.images, "index": cut.index, "labels": cut.labels}
            found.append({"task": items.task, "mean": cut.mean, "std": cut.std} | {
                name: self.tensor(torch.from_numpy(np.ascontiguousarray(array)))
                for name, array in arrays.items()
            })  # fmt: skip
        return found


class Reader:
    """The reverse; ``into`` is what a new strategy has in the same place."""

    def __init__(
        self,
        tensors: dict[str, Tensor],
        sources: list[dict[str, Any]],
        tasks: list[Task],
        strategy: Any,
    ) -> None:
        self.tensors, self.device = tensors, strategy.device
        self.tasks = {task.label: task for task in tasks}
        self.seed = strategy.model.seed
        self.kinds: dict[str, Callable[[Any, Any, Any], Any]] = {
            "float": lambda node, whole, into: float(node),
            "tensor": self.tensor,
            "array": lambda node, whole, into: tensors[node].numpy().copy(),
            "device": lambda node, whole, into: torch.device(node),
            "function": lambda node, whole, into: _FUNCTIONS[node],
            "anew": lambda node, whole, into: into,
            "dict": self.mapping,
            "list": self.sequence,
            "tuple": lambda node, whole, into: tuple(self.value(part) for part in node),
            "set": lambda node, whole, into: {self.value(part) for part in node},
            "model": self.model,
            "module": self.module,
            "dataset": self.dataset,
            "cycle": self.cycle,
            "iterator": lambda node, whole, into: iter(self.value(node)),
            "object": self.object,
        }
        self.sources = [self.source(source) for source in sources]
        self.starts = np.cumsum([0, *map(len, self.sources)])

    def value(self, node: Any, into: Any = None) -> Any:
        if not isinstance(node, dict):
            return node
        kind = next(iter(node))
        return self.kinds[kind](node[kind], node, into)

    def tensor(self, node: Any, whole: Any, into: Any) -> Tensor:
        return self.tensors[node].to("cpu" if whole["cpu"] else self.device, copy=True)

    def mapping(self, node: Any, whole: Any, into: Any) -> Any:
        """In place if there is one, which may have a default for missing keys."""
        before = dict(into) if isinstance(into, dict) else {}
        made = {}
        for key, part in node:
            name = self.value(key)
            made[name] = self.value(part, before.get(name))
        if not isinstance(into, dict):
            return made
        into.clear()
        into.update(made)
        return into

    def sequence(self, node: Any, whole: Any, into: Any) -> Any:
        before = into if isinstance(into, list) else []
        before[:] = [
            self.value(part, before[i] if i < len(before) else None) for i, part in enumerate(node)
        ]
        return before

    def model(self, node: Any, whole: Any, into: Any) -> TypedModel:
        model = into if isinstance(into, TypedModel) else None
        if model is None or list(model.tasks) != node["tasks"]:
            model = MultiHead(self.seed)
            for label in node["tasks"]:
                model.add(self.tasks[label])
        model.__dict__.update(self.value(node["attributes"], {}))
        model.load_state_dict(self.value(node["weights"]))
        model.requires_grad_(not node["frozen"]).train(node["training"]).to(self.device)
        return model

    def module(self, node: Any, whole: Any, into: Any) -> nn.Module:
        assert isinstance(into, nn.Module)
        into.load_state_dict(self.value(node))
        return into

    def source(self, source: dict[str, Any]) -> Any:
        images, index, labels = (
            self.tensors[source[name]].numpy() for name in ("images", "index", "labels")
        )
        split = Split(images, index, source["mean"], source["std"], labels=labels)
        return make_dataset(split, self.tasks[source["task"]])

    def dataset(self, node: Any, whole: Any, into: Any) -> Any:
        rows = self.tensors[node].numpy()
        if not len(rows):
            return concat_datasets([])
        return concat_datasets(self.sources).subset((self.starts[rows[:, 0]] + rows[:, 1]).tolist())

    def cycle(self, node: Any, whole: Any, into: Any) -> Any:
        return cycle(DataLoader(self.value(node), batch_size=whole["batch"], shuffle=True))

    def object(self, node: Any, whole: Any, into: Any) -> Any:
        """An object of Avalanche's, by its attributes; its constructor is not called."""
        kind = _avalanche(node)
        made = into if type(into) is kind else object.__new__(kind)
        before = dict(vars(made))
        vars(made).update(
            {name: self.value(part, before.get(name)) for name, part in whole["state"].items()}
        )
        return made


def _avalanche(name: str) -> type:
    """A class of Avalanche's by its name; nothing else is looked up."""
    module, _, attribute = name.partition(":")
    if not module.startswith("avalanche."):
        raise BellBenchError(f"a checkpoint names {name}, which is none of Avalanche's classes")
    found = getattr(importlib.import_module(module), attribute, None)
    if not isinstance(found, type):
        raise BellBenchError(f"a checkpoint names {name}, which this Avalanche does not have")
    return found
