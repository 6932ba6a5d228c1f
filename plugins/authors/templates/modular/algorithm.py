"""The search: which earlier modules are worth trying on a new problem?"""

from collections.abc import Iterator

from bell_bench import Evaluation, ModularAlgorithm, ModulePath, Problem


class MyIdea(ModularAlgorithm):
    """Freezes the first half, or all but the last, of earlier modules and trains the rest anew.

    The standalone path is evaluated before this search; the best validation accuracy wins, and
    its new modules enter the library. Predicting, saving and accounting are inherited.
    """

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        layers = problem.architecture.modules
        latest = self.context.library.solutions[-self.options["solutions"] :]
        for solution in reversed(latest):
            for length in (len(layers) // 2, len(layers) - 1):
                if solution.architecture.modules[:length] == layers[:length]:
                    path = ModulePath.prefix(solution.names[:length], len(layers))
                    yield self.context.evaluate(path, problem)
