"""MNTDP-D (Veniat et al., 2021): perceptual transfer from the nearest previous solution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from bell_bench.modular.architecture import Architecture
from bell_bench.modular.modular_algorithm import ModularAlgorithm
from bell_bench.modular.network import features
from bell_bench.modular.path import ModulePath
from bell_bench.problem import Array, Problem, Split

if TYPE_CHECKING:
    from bell_bench.modular.evaluator import Evaluation

Names = tuple[str, ...]


class MNTDPD(ModularAlgorithm):
    """Evaluates the prefixes of one previous solution: that whose features tell the labels best.

    A solution is used as far as its modules fit, from the input on. Its features are what the last
    of these gives that is neither its own last module nor would be the problem's.
    """

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        length = len(problem.architecture)
        previous = [
            (solution, names)
            for solution in self.context.library.solutions
            if (names := fitting(solution.names, solution.architecture, problem.architecture))
        ]
        below = [names[: min(len(solution.names), length) - 1] for solution, names in previous]
        accuracies = self._accuracies(problem, below)
        self.context.note(
            nearest_neighbours=[
                {"problem": solution.problem + 1, "modules": list(names), "accuracy": accuracy}
                for (solution, names), accuracy in zip(previous, accuracies, strict=True)
            ]
        )
        if not previous:
            return
        _, nearest = previous[int(np.argmax(accuracies))]  # of equals, the earliest solved
        paths = [ModulePath.prefix(nearest[:count], length) for count in range(1, len(nearest) + 1)]
        self.context.prefetch(paths, problem)
        for path in paths:
            yield self.context.evaluate(path, problem)

    def _accuracies(self, problem: Problem, prefixes: list[Names]) -> list[float]:
        """Per prefix, how well nearest neighbours in its features classify validation points."""
        known: dict[Names, float] = {}  # solutions that share their prefix share its accuracy

        def measure() -> None:
            for names in dict.fromkeys(prefixes):
                known[names] = self._accuracy(problem, names)

        if prefixes:
            self.context.charge(inference_flops=self.context.count(measure))
        return [known[names] for names in prefixes]

    def _accuracy(self, problem: Problem, names: Names) -> float:
        train, validation = (
            self._features(problem.architecture, names, split)
            for split in (problem.train, problem.validation)
        )
        model = KNeighborsClassifier(n_neighbors=min(self.options["k"], len(train)))
        found = model.fit(train, problem.train.labels).predict(validation)
        return float(np.mean(found == problem.validation.labels))

    def _features(self, architecture: Architecture, names: Names, split: Split) -> Array:
        """One row per input; below the join, its images' features side by side."""
        weights = {layer: self.context.library.weights(name) for layer, name in enumerate(names)}
        output = features(
            architecture, weights, split, len(names), device=self.context.device
        ).numpy(force=True)
        if len(names) <= architecture.joint:
            output = output[split.index]
        return output.reshape(len(split), -1)


def fitting(names: Names, own: Architecture, other: Architecture) -> Names:
    """A solution's modules, from the input on, as far as they fit another architecture."""
    for layer, (mine, theirs) in enumerate(zip(own.modules, other.modules, strict=False)):
        if mine != theirs:
            return names[:layer]
    return names[: len(other)]
