"""Suffixes of earlier solutions as functions: which there are, and how alike they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bell_bench import Architecture, Library, Solution, Weights, run_modules

INPUTS = "inputs"
"""The attachment of a module that holds some of its training inputs."""


@dataclass(frozen=True)
class Suffix:
    """The last modules of an earlier solution, the first one that ends with them."""

    names: tuple[str, ...]
    solution: Solution


def fitting_suffixes(library: Library, architecture: Architecture, length: int) -> list[Suffix]:
    """Return the distinct suffixes of ``length`` modules that fit, those of the earliest first."""
    found: dict[tuple[str, ...], Suffix] = {}
    for solution in library.solutions:
        if fits(solution, architecture, length):
            names = solution.names[-length:]
            found.setdefault(names, Suffix(names, solution))
    return list(found.values())


def fits(solution: Solution, architecture: Architecture, length: int) -> bool:
    """Whether the last ``length`` modules of a solution fit the last layers of a network."""
    own = solution.architecture.modules
    return len(own) >= length and own[-length:] == architecture.modules[-length:]


def stored_inputs(library: Library, architecture: Architecture, length: int) -> Tensor:
    """Return all inputs kept of library modules that can begin a suffix of this length."""
    first = library.candidates(architecture[len(architecture) - length])
    kept = [
        library.attached(module.name, INPUTS) for module in first if INPUTS in module.attachments
    ]
    return torch.cat(kept)


def read(
    library: Library, architecture: Architecture, suffixes: Sequence[Suffix]
) -> list[Mapping[int, Weights]]:
    """Return the suffixes' weights by layer; a module of several suffixes is read once."""
    names = {name: library.weights(name) for suffix in suffixes for name in suffix.names}
    length = len(architecture)
    return [
        {length - back: names[name] for back, name in enumerate(reversed(suffix.names), start=1)}
        for suffix in suffixes
    ]


class Functions:
    """Suffixes of one network as functions, which are compared by their outputs on some inputs."""

    def __init__(
        self, architecture: Architecture, suffixes: Sequence[Mapping[int, Weights]], inputs: Tensor
    ) -> None:
        self.architecture = architecture
        self.layers = range(min(suffixes[0]), len(architecture))
        self.inputs = inputs
        self._functions = suffixes
        self._outputs = self._run_all()

    def distances(self) -> Tensor:
        """Return Euclidean distances of the functions: root mean squares over the inputs."""
        points = self._outputs.flatten(1)
        exact = "donot_use_mm_for_euclid_dist"
        return torch.cdist(points, points, compute_mode=exact) / math.sqrt(len(self.inputs))

    def similarities(self, kind: str) -> Tensor:
        """Return the similarity sim_cov, sim_pc or sim_gpd of the paper's appendix."""
        measures: dict[str, Callable[[], Tensor]] = {
            "cov": lambda: self._outputs.flatten(1).cov(),
            "pc": self._correlations,
            "gpd": self._alignments,
        }
        count = len(self._functions)
        return measures[kind]().reshape(count, count)

    def _correlations(self) -> Tensor:
        points = self._outputs.flatten(1)
        directions = _directions(points - points.mean(1, keepdim=True))
        return directions @ directions.T

    def _alignments(self) -> Tensor:
        """Return mean dot products of normalised gradients, over inputs and outputs."""
        gradients = torch.stack([self._gradients(function) for function in self._functions])
        directions = _directions(gradients)
        flat = directions.flatten(1)
        return flat @ flat.T / (directions.shape[1] * directions.shape[2])

    @torch.no_grad()
    def _run_all(self) -> Tensor:
        """Return (functions, inputs, outputs), in double precision."""
        outputs = [self._run(function, self.inputs) for function in self._functions]
        return torch.stack(outputs).double()

    def _run(self, function: Mapping[int, Weights], inputs: Tensor) -> Tensor:
        """Return (inputs, outputs); layers below the join run on each image on its own."""
        architecture, layers = self.architecture, self.layers
        below = range(layers.start, architecture.joint)
        above = range(max(layers.start, architecture.joint), layers.stop)
        x = inputs
        if below:
            images = run_modules(architecture, function, x.flatten(0, 1), below)
            x = images.view(*x.shape[:2], *images.shape[1:])
        return (run_modules(architecture, function, x, above) if above else x).flatten(1)

    def _gradients(self, function: Mapping[int, Weights]) -> Tensor:
        """Return each output's gradient, (outputs, inputs, numbers), in double precision."""
        double = {
            layer: {k: w.double() for k, w in part.items()} for layer, part in function.items()
        }
        z = self.inputs.double().requires_grad_()
        outputs = self._run(double, z).sum(0)
        gradients = [torch.autograd.grad(out, z, retain_graph=True)[0] for out in outputs]
        return torch.stack(gradients).flatten(2)


def _directions(vectors: Tensor) -> Tensor:
    """Return vectors scaled to unit length; zero vectors stay zero."""
    return torch.nn.functional.normalize(vectors, dim=-1, eps=1e-100)
