"""How much the built-in algorithms train on a problem, at most: the paths each would evaluate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, product

from bell_bench import PlannedProblem, PlannedTrainings


def sa(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """The standalone path."""
    yield problem.standalone()


def mntdp_d(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """The standalone path and every prefix of one earlier solution."""
    yield problem.standalone()
    yield from _prefixes(problem)


def houdini(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """The first 2L + t paths; many train little or nothing, as the output layer varies fastest."""
    yield problem.standalone()
    limit = problem.options["paths"] or _budget(problem)
    choices = [[False] * count + [True] for count in problem.fitting]
    first = islice(product(*choices), limit - 1)
    trained = Counter(frozenset(i for i, new in enumerate(path) if new) for path in first)
    for layers, count in trained.items():
        if len(layers) < problem.layers:
            yield PlannedTrainings(layers, count)


def rs(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """As many FLOPs as 2L + t standalone paths; how many paths that makes is chance."""
    yield problem.standalone(
        (problem.options["trainings"] or _budget(problem)) if problem.solved else 1
    )


def picle(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """The standalone path, and those of both searches, or of the one that is asked for."""
    yield problem.standalone()
    if problem.options.get("searches") != "nt":
        yield from _prefixes(problem)
    if problem.options.get("searches") != "pt":
        yield from _suffixes(problem)


def pt_only(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """PICLE's prefixes."""
    yield from mntdp_d(problem)


def nt_only(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """PICLE's suffixes."""
    yield problem.standalone()
    yield from _suffixes(problem)


def one_network(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """One network, trained once per problem."""
    yield problem.standalone()


def replay(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """One network, and from the second problem on as many stored examples beside every batch."""
    yield problem.standalone(2 if problem.solved else 1)


def _budget(problem: PlannedProblem) -> int:
    return 2 * problem.layers + problem.solved


def _prefixes(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    for length in range(1, problem.fitting_prefix + 1):
        yield PlannedTrainings(frozenset(range(length, problem.layers)))


def _suffixes(problem: PlannedProblem) -> Iterator[PlannedTrainings]:
    """Bayesian optimisation over one suffix per earlier solution, then the best one's longer."""
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
