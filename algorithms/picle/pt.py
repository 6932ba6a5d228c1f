"""The search for perceptual transfer: the likeliest prefix of library modules, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from bell_bench import Activations, Context, Evaluation, Module, ModulePath, Problem
from bell_bench_algorithms.picle.charging import charged
from bell_bench_algorithms.picle.gaussian import Moments, log_likelihoods, projection
from bell_bench_algorithms.picle.note_numbers import told
from bell_bench_algorithms.picle.options import PTOptions
from bell_bench_algorithms.picle.prior import log_prior, temperature

GAUSSIAN = "gaussian"
"""The attachment of a module that holds mean and covariance of its training inputs."""


class PerceptualSearch:
    """Extends a prefix greedily by the module with the highest posterior: up to L paths."""

    def __init__(self, context: Context, options: PTOptions) -> None:
        self.context = context
        self.options = options
        self.temperature = options.temperature or temperature(context.suite)
        self._projections: dict[int, Tensor | None] = {}

    def keep(self, name: str, received: Activations) -> None:
        """Keep the Gaussian of a new module's training inputs."""
        moments = charged(self.context, partial(self.moments, received))
        self.context.library.attach(name, GAUSSIAN, moments.tensor())

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        names = self.prefix(problem)
        length = len(problem.architecture)
        paths = [ModulePath.prefix(names[:count], length) for count in range(1, len(names) + 1)]
        self.context.prefetch(paths, problem)
        for path in paths:
            yield self.context.evaluate(path, problem)

    def prefix(self, problem: Problem) -> list[str]:
        """Return the longest prefix. It needs no evaluation, so all its paths are known at once."""
        library, architecture = self.context.library, problem.architecture
        received = Activations(architecture, problem.train, self.context.device)
        prefix: list[str] = []
        layers: list[dict[str, Any]] = []
        stopped = "all layers have a module"
        for layer, spec in enumerate(architecture.modules):
            candidates = library.candidates(spec)
            if not candidates:
                stopped = f"the library has no module for layer {layer + 1}"
                break
            if layer:
                weights = library.weights(prefix[-1])
                charged(self.context, partial(received.extend, weights))
            likelihood, prior = self.judge(candidates, received)
            best = int((likelihood + prior).argmax())  # the earliest of equals
            prefix.append(candidates[best].name)
            layers.append(_tell(layer, candidates, likelihood, prior, best))
        self.context.note(pt={"layers": layers, "stopped": stopped})
        return prefix

    def judge(self, candidates: Sequence[Module], received: Activations) -> tuple[Tensor, Tensor]:
        """Return log-likelihood and log-prior of a layer's candidates.

        The posterior in the paper's appendix is a product over layers. Each factor is the softmax
        of the sum of both. Candidates share the prefix below, so all other factors are equal.
        """
        attached = self.context.library.attached
        stored = torch.stack([attached(module.name, GAUSSIAN) for module in candidates])
        seen = charged(self.context, partial(self.moments, received))
        likelihood = log_likelihoods(stored, seen, self.options.ridge)
        return likelihood, log_prior([module.accuracy for module in candidates], self.temperature)

    def moments(self, received: Activations) -> Moments:
        """Return the moments of a layer's inputs, projected if they are wide, on the CPU."""
        matrix = self._projection(received.width)

        def projected(x: Tensor) -> Tensor:
            return x.flatten(1) if matrix is None else x.flatten(1) @ matrix.to(x.device)

        return Moments.of(received.through(projected).cpu(), received.counts.cpu())

    def _projection(self, width: int) -> Tensor | None:
        """Return the projection for inputs of this width; a resumed job has the same one."""
        if width not in self._projections:
            k = self.options.k
            generator = self.context.generator("picle", "projection", width, k)
            self._projections[width] = projection(width, k, generator)
        return self._projections[width]


def _tell(
    layer: int, candidates: Sequence[Module], likelihood: Tensor, prior: Tensor, best: int
) -> dict[str, Any]:
    posterior = torch.softmax(likelihood + prior, dim=0)
    return {
        "layer": layer + 1,
        "chosen": candidates[best].name,
        "candidates": [
            {
                "module": module.name,
                "log_likelihood": told(float(likelihood[i])),
                "log_prior": told(float(prior[i])),
                "posterior": told(float(posterior[i])),
            }
            for i, module in enumerate(candidates)
        ],
    }
