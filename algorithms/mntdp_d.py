"""MNTDP-D (Veniat et al., 2021): perceptual transfer from the nearest previous solution."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from bell_bench import (
    Activations,
    Architecture,
    Evaluation,
    ModularAlgorithm,
    ModulePath,
    Problem,
    Split,
)

Names = tuple[str, ...]


class MNTDPD(ModularAlgorithm):
    """Evaluates the prefixes of the previous solution whose features predict the labels best.

    A solution is used as far as its modules fit the problem's network, counted from the input. Its
    features are the output of the last of these modules, leaving out the solution's own last module
    and the place of the problem's last module.
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
        _, nearest = previous[int(np.argmax(accuracies))]  # the earliest of equals
        paths = [ModulePath.prefix(nearest[:count], length) for count in range(1, len(nearest) + 1)]
        self.context.prefetch(paths, problem)
        for path in paths:
            yield self.context.evaluate(path, problem)

    def _accuracies(self, problem: Problem, prefixes: list[Names]) -> list[float]:
        """Return, per prefix, the accuracy of nearest neighbours in its features on validation."""
        known: dict[Names, float] = {}  # solutions with the same prefix share its accuracy

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

    def _features(
        self, architecture: Architecture, names: Names, split: Split
    ) -> NDArray[np.float32]:
        """Return one row per input; below the layer that joins images, the features of its images
        stand side by side."""
        received = Activations(architecture, split, self.context.device)
        for name in names:
            received.extend(self.context.library.weights(name))
        output = received.through(lambda x: x.flatten(1)).numpy(force=True)
        if len(names) < architecture.joint:
            output = output[split.index]
        return output.reshape(len(split), -1)


def fitting(names: Names, own: Architecture, other: Architecture) -> Names:
    """Return a solution's modules, from the first on, as far as they fit another architecture."""
    for layer, (mine, theirs) in enumerate(zip(own.modules, other.modules, strict=False)):
        if mine != theirs:
            return names[:layer]
    return names[: len(other)]
