"""HOUDINI (Valkov et al., 2018) with a fixed architecture: exhaustive search, the first paths."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from bell_bench import NEW, Evaluation, ModularAlgorithm, ModulePath, Problem


class Houdini(ModularAlgorithm):
    """Evaluates 2L + t paths: the standalone path, then the first paths in lexicographic order.

    The choices for a layer are the library modules that fit it, in the order they were added, and
    then a new module. The output layer varies fastest, so the standalone path would come last.
    """

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        library, layers = self.context.library, problem.architecture.modules
        limit = self.options["paths"] or 2 * len(layers) + len(library.solutions)
        choices = [[*(module.name for module in library.candidates(spec)), NEW] for spec in layers]
        first = islice(product(*choices), limit - 1)
        paths = [ModulePath(modules) for modules in first if set(modules) != {NEW}]
        self.context.prefetch(paths, problem)
        for path in paths:
            yield self.context.evaluate(path, problem)
