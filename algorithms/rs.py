"""RS: random search over all paths, for as much training as HOUDINI's 2L + t paths may take."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod

import torch

from bell_bench import NEW, Evaluation, ModularAlgorithm, ModulePath, Problem


class RandomSearch(ModularAlgorithm):
    """Evaluates uniformly random paths, none of them twice, until its training budget is spent.

    The budget is the training FLOPs of 2L + t standalone paths; the standalone path itself is the
    first of them. A path is begun while any budget is left, so the last path may exceed it. Paths
    without a new module cost nothing, so ``paths_per_training`` bounds how many are evaluated.
    """

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        library, layers = self.context.library, problem.architecture.modules
        trainings = self.options["trainings"] or 2 * len(layers) + len(library.solutions)
        most = trainings * self.options["paths_per_training"]
        standalone = self.context.evaluate(ModulePath.standalone(len(layers)), problem)
        budget = trainings * standalone.cost.train_flops
        spent, paths = standalone.cost.train_flops, 1
        choices = [[*(module.name for module in library.candidates(spec)), NEW] for spec in layers]
        seed = torch.randint(2**62, (), generator=self.context.generator("rs", problem.index))
        drawn = list(islice(random_paths(choices, random.Random(int(seed))), most - 1))
        self.context.prefetch(drawn, problem)
        for path in drawn:
            if spent >= budget:
                break
            evaluation = self.context.evaluate(path, problem)
            spent, paths = spent + evaluation.cost.train_flops, paths + 1
            yield evaluation
        self.context.note(
            budget={
                "trainings": trainings,
                "train_flops": budget,
                "spent_flops": spent,
                "paths": paths,
                "most_paths": most,
                "all_paths": prod(map(len, choices)),
            }
        )


def random_paths(choices: Sequence[Sequence[str]], source: random.Random) -> Iterator[ModulePath]:
    """Yield every path once, in random order, except the one of every layer's last choice."""
    for number in shuffled(prod(map(len, choices)) - 1, source):
        modules = []
        for layer in reversed(choices):
            number, digit = divmod(number, len(layer))
            modules.append(layer[digit])
        yield ModulePath(tuple(reversed(modules)))


def shuffled(size: int, source: random.Random) -> Iterator[int]:
    """Yield the numbers below ``size`` in random order (Fisher and Yates).

    Only numbers that have moved are stored.
    """
    moved: dict[int, int] = {}
    for place in range(size):
        other = source.randrange(place, size)
        yield moved.get(other, other)
        moved[other] = moved.pop(place, place)
