"""A bandit over previous solutions. An arm is one end of one solution: its first modules, to be
reused below new ones, or its last, to be reused above. A pull trains one path of the arm."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from bell_bench import (
    Context,
    Evaluation,
    ModularAlgorithm,
    ModulePath,
    Problem,
    read_json,
    write_json,
)

ENDS = ("first", "last")


@dataclass
class Arm:
    """The paths that reuse one end of one solution, the most promising lengths first."""

    end: str
    problem: int
    paths: list[ModulePath]
    gains: list[float] = field(default_factory=list)
    """Per pull, validation accuracy over that of the standalone path."""

    def promise(self, prior: float, curiosity: float, pulls: int) -> float:
        """An upper confidence bound; ``prior`` counts as one pull, from earlier problems."""
        tried = len(self.gains) + 1
        mean = (prior + sum(self.gains)) / tried
        return mean + curiosity * math.sqrt(2 * math.log(pulls + 2) / tried)


class Bandit(ModularAlgorithm):
    """Pulls the arm of the highest upper confidence bound, problem after problem.

    What each end gained on earlier problems is where the next problem's arms begin: on sequences
    that reward perceptual transfer, first modules are soon tried first.
    """

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.best_gains: dict[str, list[float]] = {end: [] for end in ENDS}

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        standalone = self.context.evaluate(
            ModulePath.standalone(len(problem.architecture)), problem
        )
        arms = self.arms(problem)
        told = []
        for pulls in range(self.options["pulls"]):
            open_arms = [arm for arm in arms if arm.paths]
            if not open_arms:
                break
            promise = {id(arm): self.promise(arm, pulls) for arm in open_arms}
            arm = max(open_arms, key=lambda arm: promise[id(arm)])
            evaluation = self.context.evaluate(arm.paths.pop(0), problem)
            arm.gains.append(evaluation.accuracy - standalone.accuracy)
            told.append(
                {
                    "problem": arm.problem + 1,
                    "end": arm.end,
                    "promise": round(promise[id(arm)], 4),
                    "gain": round(arm.gains[-1], 4),
                }
            )
            yield evaluation
        for end in ENDS:
            gains = [gain for arm in arms if arm.end == end for gain in arm.gains]
            self.best_gains[end] += [max(gains)] if gains else []
        self.context.note(pulls=told)

    def arms(self, problem: Problem) -> list[Arm]:
        """Both ends of every solution, newest first; a path that two arms share is the first's."""
        layers, seen = problem.architecture.modules, set[ModulePath]()
        arms = []
        for solution in reversed(self.context.library.solutions):
            own = solution.architecture.modules
            first = _fitting(own, layers)
            last = _fitting(tuple(reversed(own)), tuple(reversed(layers)))
            paths = {
                "first": [
                    ModulePath.prefix(solution.names[:n], len(layers)) for n in _lengths(first)
                ],
                "last": [
                    ModulePath.suffix(solution.names[-n:], len(layers)) for n in _lengths(last)
                ],
            }
            for end in ENDS:
                fresh = [path for path in paths[end] if path not in seen]
                seen.update(fresh)
                arms.append(Arm(end, solution.problem, fresh))
        return arms

    def promise(self, arm: Arm, pulls: int) -> float:
        earlier = self.best_gains[arm.end]
        prior = sum(earlier) / len(earlier) if earlier else 0.0
        return arm.promise(prior, self.options["curiosity"], pulls)

    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        write_json(folder / "gains.json", self.best_gains)

    def load(self, folder: pathlib.Path) -> None:
        super().load(folder)
        self.best_gains = read_json(folder / "gains.json")


def _fitting(own: Sequence[object], layers: Sequence[object]) -> int:
    """How many modules from this end on fit, leaving at least one to train."""
    pairs = zip(own, layers, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return min(same, len(layers) - 1)


def _lengths(most: int) -> list[int]:
    """All lengths up to ``most``: the middle one, the longest, then the others downwards."""
    first = [length for length in ((most + 1) // 2, most) if length]
    return list(dict.fromkeys([*first, *range(most, 0, -1)]))
