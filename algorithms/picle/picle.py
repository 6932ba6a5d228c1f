"""PICLE (Algorithm 1 of the paper) and its ablations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from bell_bench import (
    NEW,
    Activations,
    Context,
    Evaluation,
    ModularAlgorithm,
    ModulePath,
    Problem,
    Solution,
)
from bell_bench_algorithms.picle.charging import charged
from bell_bench_algorithms.picle.nt import LatentSearch
from bell_bench_algorithms.picle.options import SEARCHES, NTOptions, PTOptions, chosen
from bell_bench_algorithms.picle.pt import PerceptualSearch


class Picle(ModularAlgorithm):
    """Standalone, then the perceptual, then the latent search: the best path wins."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        wanted = options.get("searches", SEARCHES.default)
        self.searches: list[PerceptualSearch | LatentSearch] = []
        if wanted != "nt":
            self.searches.append(PerceptualSearch(context, chosen(PTOptions, options)))
        if wanted != "pt":
            self.searches.append(LatentSearch(context, chosen(NTOptions, options)))

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        for search in self.searches:
            yield from search.search(problem)

    def asked_by(self, path: ModulePath) -> str:
        """Return which search asks for a path: PT always reuses the first layer, NT never does."""
        if path == ModulePath.standalone(len(path)):
            return "SA"
        return "NT" if path.modules[0] == NEW else "PT"

    def remember(self, problem: Problem, solution: Solution) -> None:
        """Let each search keep what it needs of the new modules, in one pass over the layers."""
        new = solution.path.new_layers
        if not new:
            return
        received = Activations(problem.architecture, problem.train, self.context.device)
        for layer in range(new[-1] + 1):
            if layer:
                weights = self.context.library.weights(solution.names[layer - 1])
                charged(self.context, partial(received.extend, weights))
            if layer in new:
                for search in self.searches:
                    search.keep(solution.names[layer], received)


class PTOnly(Picle):
    """PICLE without the latent search."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **{**options, "searches": "pt"})


class NTOnly(Picle):
    """PICLE without the perceptual search."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **{**options, "searches": "nt"})
