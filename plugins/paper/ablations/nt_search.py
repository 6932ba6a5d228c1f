"""How soon searches over suffixes find the best one, on S_in_plus.

Every path that a search could ask for is trained once; then every search is replayed on the
recorded accuracies.
"""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from bell_bench.harness.context import JobContext
from bell_bench.harness.executor import JobLimits, LocalExecutor
from bell_bench.harness.plan import Plan, Request, check_plan, make_plan, sequence_of
from bell_bench.harness.progress import Tell
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.evaluations import FOLDER
from bell_bench.modular.evaluator import derive_seed
from bell_bench.modular.library import Library
from bell_bench.modular.path import ModulePath
from bell_bench.plugins import registry
from bell_bench.records import Job, ResultStore
from bell_bench.suites.base import Sequence as ProblemSequence
from bell_bench_algorithms.picle.nt import Choice
from bell_bench_algorithms.picle.options import NTOptions
from bell_bench_algorithms.picle.picle import NTOnly
from bell_bench_algorithms.picle.suffixes import (
    Functions,
    Suffix,
    fitting_suffixes,
    read,
    stored_inputs,
)

SEQUENCE = "S_in_plus"
KERNELS = ("cov", "pc", "gpd", "gpd_pc", "gpd_l2", "gpd_l2_pc")
"""The kernels that the appendix compares with ``l2``."""
METHODS: Mapping[str, NTOptions | None] = {
    "BO_l2": NTOptions(),
    "BO_l2_r": NTOptions(first_points="random"),
    "RS": None,
    **{f"BO_{kernel}_r": NTOptions(kernel=kernel, first_points="random") for kernel in KERNELS},
}
"""The searches by their names in the paper; None: random search."""
COLUMNS = ("method", "realisation", "seed", "paths", "suffix", "accuracy", "best_accuracy")


class SearchComparison(Functions):
    """Functions with the values that a search asks for: computed once, then looked up."""

    def __init__(self, distances: Tensor, similarities: Mapping[str, Tensor]) -> None:
        self._distances = distances
        self._similarities = similarities

    def distances(self) -> Tensor:
        return self._distances

    def similarities(self, kind: str) -> Tensor:
        return self._similarities[kind]


@dataclass(frozen=True)
class Recorded:
    """Everything that a search on one realisation could ask for."""

    realisation: int
    suffixes: Sequence[Suffix]
    functions: SearchComparison
    accuracies: Sequence[float]
    """Validation accuracy of the path that ends in each suffix."""


def run(
    *,
    realisations: int,
    scale: str,
    data: str,
    protocol: str,
    seeds: int,
    out: pathlib.Path,
    tell: Tell,
) -> pd.DataFrame:
    """Return one row per method, realisation, seed and path evaluated, up to where the search
    stopped."""
    request = Request(
        algorithms=("nt-only",),
        sequences=(SEQUENCE,),
        scale=scale,
        data=data,
        protocol=protocol,
        realisations=tuple(range(realisations)),
    )
    jobs = make_plan(request).asked
    check_plan(Plan(jobs), LocalExecutor(ResultStore(out), JobLimits()))
    replays = sum(_repeats(options, seeds) for options in METHODS.values())
    steps = _Steps(tell)
    with _threads(jobs[0].threads):
        sequences = [sequence_of(job) for job in jobs]
        steps.total = sum(2 * (len(sequence) - 1) + replays for sequence in sequences)
        recorded = [
            record(job, sequence, out / FOLDER, steps)
            for job, sequence in zip(jobs, sequences, strict=True)
        ]
        rows = [row for each in recorded for row in replay_all(each, seeds, steps)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def record(
    job: Job,
    sequence: ProblemSequence,
    evaluations: pathlib.Path,
    step: Callable[[str], None],
) -> Recorded:
    """Solve all problems but the last standalone, then try every suffix on the last.

    Paths are trained through the evaluation store: a path that any run has trained before is looked
    up.
    """
    where = f"realisation {job.realisation}"
    with tempfile.TemporaryDirectory() as work:
        context = JobContext(
            job,
            registry().suite(job.suite).protocols[job.protocol],
            sequence.settings,
            work=pathlib.Path(work),
            evaluations=evaluations,
            tell=lambda *event, **facts: None,
        )
        for index, accuracy in enumerate(_solve(context, job, sequence)):
            step(f"{where}, problem {index + 1}: {100 * accuracy:.1f}%")
        problem = sequence.problem(len(sequence) - 1)
        length, l_min = len(problem.architecture), NTOptions().l_min
        suffixes = fitting_suffixes(context.library, problem.architecture, l_min)
        accuracies = []
        for suffix in suffixes:
            accuracies.append(
                context.evaluate(ModulePath.suffix(suffix.names, length), problem).accuracy
            )
            step(f"{where}, suffix {' '.join(suffix.names)}: {100 * accuracies[-1]:.1f}%")
        compared = _compare(context.library, problem.architecture, suffixes)
    return Recorded(job.realisation, suffixes, compared, accuracies)


def _solve(context: JobContext, job: Job, sequence: ProblemSequence) -> Iterator[float]:
    """Fill the library with a standalone solution of every problem but the last; yield the
    accuracies."""
    algorithm = NTOnly(context, **job.options)
    for index in range(len(sequence) - 1):
        problem = sequence.problem(index)
        found = context.evaluate(ModulePath.standalone(len(problem.architecture)), problem)
        context.library.add(problem, found)
        algorithm.remember(problem, context.library.solution(index))
        yield found.accuracy


def _compare(
    library: Library, architecture: Architecture, suffixes: Sequence[Suffix]
) -> SearchComparison:
    inputs = stored_inputs(library, architecture, NTOptions().l_min)
    functions = Functions(architecture, read(library, architecture, suffixes), inputs)
    similarities = {kind: functions.similarities(kind) for kind in ("cov", "pc", "gpd")}
    return SearchComparison(functions.distances(), similarities)


def replay_all(
    recorded: Recorded, seeds: int, step: Callable[[str], None]
) -> Iterator[tuple[str, int, int, int, str, float, float]]:
    """Yield the rows (of ``COLUMNS``) of every method with every seed."""
    for method, options in METHODS.items():
        for seed in range(_repeats(options, seeds)):
            best = 0.0
            for paths, number in enumerate(replay(recorded, options, seed), start=1):
                accuracy = recorded.accuracies[number]
                best = max(best, accuracy)
                names = " ".join(recorded.suffixes[number].names)
                yield method, recorded.realisation, seed, paths, names, accuracy, best
            step(f"realisation {recorded.realisation}, {method} with seed {seed}")


def replay(recorded: Recorded, options: NTOptions | None, seed: int) -> list[int]:
    """Return the numbers of the suffixes that a search evaluates, in order.

    All searches that begin at random begin with the same suffixes if their seed is the same. No c
    limits a search here, because a limit would hide how many paths it needs.
    """
    count = len(recorded.suffixes)
    generator = torch.Generator().manual_seed(derive_seed(recorded.realisation, seed))
    if options is None:
        return [int(number) for number in torch.randperm(count, generator=generator)]
    choice = Choice(
        recorded.suffixes,
        recorded.functions,
        options,
        limit=count,
        generator=generator,
    )
    while (number := choice.next()) is not None:
        choice.observe(number, recorded.accuracies[number])
    return list(choice.observed)


def curves(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the best accuracy after each number of paths, one row per run. A search that has
    stopped keeps the best that it found."""
    runs = ["method", "realisation", "seed"]
    table = rows.pivot(index=runs, columns="paths", values="best_accuracy").ffill(axis=1)
    return table.loc[[method for method in METHODS if method in table.index]]


def stopping(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run: the paths it evaluated, and the best it found and could have
    found."""
    runs = rows.groupby(["method", "realisation", "seed"], sort=False, as_index=False)
    found = runs.agg(paths=("paths", "max"), best_accuracy=("best_accuracy", "max"))
    highest = rows.groupby("realisation")["accuracy"].max()
    return found.assign(highest_accuracy=found["realisation"].map(highest))


def _repeats(options: NTOptions | None, seeds: int) -> int:
    """Return how often to run a search. Once is enough if nothing is random: more runs would only
    make its error band narrower."""
    return 1 if options and options.first_points == "central" else seeds


class _Steps:
    """Counts the steps that are done, and reports each as progress."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.done = self.total = 0

    def __call__(self, what: str) -> None:
        self.done += 1
        self.tell(what, self.done, self.total)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Train with as many threads as ``evaluate`` does: their number is part of an evaluation's
    identity."""
    usual = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(usual)
