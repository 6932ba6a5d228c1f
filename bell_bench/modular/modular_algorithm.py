"""The base class of modular algorithms: evaluate paths, keep the best, add its new modules."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bell_bench.algorithm import Algorithm
from bell_bench.modular.network import scores
from bell_bench.modular.path import ModulePath
from bell_bench.problem import Inputs, Problem

if TYPE_CHECKING:
    import torch

    from bell_bench.modular.evaluator import Evaluation
    from bell_bench.modular.library import Solution

_INDEX = "library.json"


class ModularAlgorithm(Algorithm):
    """A search over paths. A subclass implements ``search``, which evaluates promising paths.

    The standalone path always comes first. The path with the best validation accuracy wins; of
    equal paths, the one evaluated first. Only the winner's newly trained modules enter the library.
    """

    stable = True

    def search(self, problem: Problem) -> Iterable[Evaluation]:
        """Return the evaluations to choose from besides the standalone one, in the order they are
        made.

        Usually a generator: ``yield self.context.evaluate(path, problem)``.
        """
        return ()

    def remember(self, problem: Problem, solution: Solution) -> None:
        """Attach to the library what later searches need of this problem; by default, nothing."""

    def asked_by(self, path: ModulePath) -> str:
        """Return which of several searches asks for such paths; empty if there is only one."""
        return ""

    def learn(self, problem: Problem) -> None:
        standalone = ModulePath.standalone(len(problem.architecture))
        best = self.context.evaluate(standalone, problem)
        candidates = {best.path: self._row(best)}
        for evaluation in self.search(problem):
            candidates.setdefault(evaluation.path, self._row(evaluation))
            if evaluation.accuracy > best.accuracy:
                best = evaluation
        library = self.context.library
        library.add(problem, best)
        solution = library.solution(problem.index)
        self.remember(problem, solution)
        self.context.note(
            evaluated=list(candidates.values()),
            chosen={
                **self._row(best),
                "names": list(solution.names),
                "why": _why(best, candidates),
            },
        )

    def predict(self, index: int, inputs: Inputs) -> torch.Tensor:
        library = self.context.library
        solution = library.solution(index)
        weights = {layer: library.weights(name) for layer, name in enumerate(solution.names)}
        return scores(solution.architecture, weights, inputs, device=self.context.device)

    def save(self, folder: pathlib.Path) -> None:
        self.context.library.save(folder / _INDEX)

    def load(self, folder: pathlib.Path) -> None:
        self.context.library.load(folder / _INDEX)

    def solution(self, index: int) -> tuple[str, ...]:
        return self.context.library.solution(index).names

    def _row(self, evaluation: Evaluation) -> dict[str, Any]:
        by = self.asked_by(evaluation.path)
        return {
            "path": list(evaluation.path),
            "accuracy": evaluation.accuracy,
            "diverged": evaluation.diverged,
            **({"by": by} if by else {}),
        }


def _why(best: Evaluation, candidates: dict[ModulePath, dict[str, Any]]) -> str:
    if len(candidates) == 1:
        return "the only path evaluated"
    tied = sum(row["accuracy"] == best.accuracy for row in candidates.values())
    why = f"highest validation accuracy of {len(candidates)} paths"
    return why if tied == 1 else f"{why}, the earliest of {tied} equals"
