"""HOUDINI (Valkov et al., 2018) with a fixed architecture: exhaustive search, the first paths."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import TYPE_CHECKING

from bell_bench.modular.modular_algorithm import ModularAlgorithm
from bell_bench.modular.path import NEW, ModulePath
from bell_bench.problem import Problem

if TYPE_CHECKING:
    from bell_bench.modular.evaluator import Evaluation


class Houdini(ModularAlgorithm):
    """Evaluates 2L + t paths: the standalone one, then the first of all in lexicographic order.

    A layer's choices are the library modules that fit it, in the order they were added, then a new
    one; the output layer varies fastest. The order would end with the standalone path.
    """

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        library, layers = self.context.library, problem.architecture.modules
        limit = self.options["paths"] or 2 * len(layers) + len(library.solutions)
        choices = [[*(module.name for module in library.candidates(spec)), NEW] for spec in layers]
        first = islice(product(*choices), limit - 1)
        paths = [
            ModulePath(modules) for modules in first if set(modules) != {NEW}
        ]  # evaluated before
        self.context.prefetch(paths, problem)
        for path in paths:
            yield self.context.evaluate(path, problem)
