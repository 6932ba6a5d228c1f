"""How much each built-in algorithm trains on a problem, at most, by the paths it would evaluate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, product

from bell_bench import PlannedProblem, PlannedTrainings


def sa(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield the training of the standalone path."""
    yield problem.standalone()


def mntdp_d(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield the trainings of the standalone path and of every prefix of one earlier solution."""
    yield problem.standalone()
    yield from _prefixes(problem)


def houdini(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield the trainings of the first 2L + t paths; many of them train few layers."""
    yield problem.standalone()
    limit = problem.options["paths"] or _budget(problem)
    choices = [[False] * count + [True] for count in problem.fitting]
    first = islice(product(*choices), limit - 1)
    trained = Counter(frozenset(i for i, new in enumerate(path) if new) for path in first)
    for layers, count in trained.items():
        if len(layers) < problem.layers:
            yield PlannedTrainings(layers, count)


def rs(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield 2L + t standalone trainings: paths are random, but they cost as many FLOPs together."""
    yield problem.standalone(
        (problem.options["trainings"] or _budget(problem)) if problem.solved else 1
    )


def picle(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield the trainings of the standalone path and of both searches, or of one of them."""
    yield problem.standalone()
    if problem.options.get("searches") != "nt":
        yield from _prefixes(problem)
    if problem.options.get("searches") != "pt":
        yield from _suffixes(problem)


def pt_only(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield the trainings of the standalone path and of PICLE's prefixes."""
    yield from mntdp_d(problem)


def nt_only(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield the trainings of the standalone path and of PICLE's suffixes."""
    yield problem.standalone()
    yield from _suffixes(problem)


def one_network(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield one training of the network."""
    yield problem.standalone()


def replay(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield one training; from the second problem on, batches are twice as large by replay."""
    yield problem.standalone(2 if problem.solved else 1)


def _budget(problem: PlannedProblem) -> int:
    return 2 * problem.layers + problem.solved


def _prefixes(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    for length in range(1, problem.fitting_prefix + 1):
        yield PlannedTrainings(frozenset(range(length, problem.layers)))


def _suffixes(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Yield a training per earlier solution's suffix, then those of the best one's longer ones."""
    shortest, last = problem.options["l_min"], problem.fitting[::-1]
    if problem.layers <= shortest:
        return
    tried = min(*last[:shortest], problem.options["c"] or problem.layers + shortest)
    if tried:
        yield PlannedTrainings(frozenset(range(problem.layers - shortest)), tried)
        for length in range(shortest + 1, problem.layers):
            if not last[length - 1]:
                return
            yield PlannedTrainings(frozenset(range(problem.layers - length)))
