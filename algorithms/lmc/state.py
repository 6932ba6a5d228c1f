"""What LMC keeps between problems, as plain files: JSON for structure, safetensors for weights."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from bell_bench import (
    Architecture,
    ModuleSpec,
    read_json,
    read_tensors,
    write_json,
    write_tensors,
)
from bell_bench_algorithms.lmc.head import Head
from bell_bench_algorithms.lmc.layer import Layer
from bell_bench_algorithms.lmc.module import LmcModule
from bell_bench_algorithms.lmc.outliers import Window

_STRUCTURE, _WEIGHTS = "lmc.json", "lmc.safetensors"


@dataclass
class LmcState:
    """All layers by what they compute, and each learnt problem's head."""

    layers: dict[ModuleSpec, Layer] = field(default_factory=dict)
    heads: dict[int, Head] = field(default_factory=dict)

    def save(self, folder: pathlib.Path) -> None:
        structure = {
            "layers": [
                {
                    "spec": layer.spec.to_json(),
                    "modules": [
                        {
                            "name": module.name,
                            "window": module.window.means.maxlen,
                            "means": list(module.window.means),
                        }
                        for module in layer.modules
                    ],
                }
                for layer in self.layers.values()
            ],
            "heads": {
                str(index): {
                    "architecture": head.architecture.to_json(),
                    "start": head.start,
                }
                for index, head in self.heads.items()
            },
        }
        write_tensors(folder / _WEIGHTS, self._tensors())
        write_json(folder / _STRUCTURE, structure)

    def _tensors(self) -> dict[str, Tensor]:
        """Return every weight by its place in the structure."""
        found: dict[str, Tensor] = {}
        for number, layer in enumerate(self.layers.values()):
            for place, module in enumerate(layer.modules):
                for name, tensor in module.state_dict().items():
                    found[f"layer.{number}.{place}.{name}"] = tensor
        for index, head in self.heads.items():
            for number, weights in head.weights.items():
                for name, tensor in weights.items():
                    found[f"head.{index}.{number}.{name}"] = tensor
        return found

    @staticmethod
    def load(folder: pathlib.Path, device: torch.device) -> LmcState:
        structure = read_json(folder / _STRUCTURE)
        tensors = read_tensors(folder / _WEIGHTS)
        state = LmcState()
        for number, saved in enumerate(structure["layers"]):
            layer = Layer(ModuleSpec.from_json(saved["spec"]))
            state.layers[layer.spec] = layer
            for place, facts in enumerate(saved["modules"]):
                kept = _under(tensors, f"layer.{number}.{place}.")
                layer.modules.append(_module(layer, facts, kept).to(device))
        for index, saved in structure["heads"].items():
            architecture = Architecture.from_json(saved["architecture"])
            start = saved["start"]
            weights = {
                number: _under(tensors, f"head.{index}.{number}.")
                for number in range(start, len(architecture))
            }
            head = Head(architecture, start, weights)
            state.heads[int(index)] = head.copy(device, trained=False)
        return state

    def sizes(self) -> dict[str, tuple[int, int]]:
        """Return the bytes and parameters of what is kept."""
        modules = [module for layer in self.layers.values() for module in layer.modules]
        buffers = [tensor for module in modules for tensor in module.buffers()]
        trained = [parameter for module in modules for parameter in module.parameters()]
        heads = [tensor for head in self.heads.values() for tensor in head.parameters()]
        windows = sum(8 * len(module.window.means) for module in modules)
        return {
            "modules": (_bytes([*trained, *buffers]) + windows, _count(trained)),
            "heads": (_bytes(heads), _count(heads)),
        }


def _module(layer: Layer, facts: dict[str, Any], weights: dict[str, Tensor]) -> LmcModule:
    module = LmcModule(layer.shape, facts["name"], Window(facts["window"], facts["means"]))
    module.load_state_dict(weights)
    module.freeze()
    return module


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def _bytes(tensors: list[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _count(tensors: list[Tensor]) -> int:
    return sum(tensor.numel() for tensor in tensors)
