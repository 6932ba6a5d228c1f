"""Shows where PICLE loses, to which algorithm, and why: validation, its search, its statistics, …

python studies/picle_losses.py [RUNS …]

It reads stored runs only, by default the published ones of BELL. It shows which problems another
algorithm solves better by more than half a point of test accuracy, and why, as far as records tell:

backward    the other was no better right after it learnt the problem; later problems improved it
validation  PICLE had a path at least as good on the validation points; only the test points differ
space       PICLE may not try the other's path: it is neither a prefix of known modules nor the last
            three or more modules of one solution
library     the path reuses a module that PICLE does not have, because PICLE solved an earlier
            problem with another path
statistics  the path is a prefix of modules that PICLE has, but PT chose other modules
search      the path is a suffix of a solution that PICLE has, but NT did not try it
training    there is no path: the other trains differently, and is better on validation too
seed        the other started from other random numbers, and is better on validation too

"Again" counts the losses, other than by validation, that PICLE also has with each other seed, again
other than by validation.

Each setting and each long sequence has its own table. Below it are the worst losses, and how often
the prior of the PT search changed what the likelihood alone would have chosen.
"""

from __future__ import annotations

import math
import pathlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bell_bench.modular.path import NEW, ModulePath
from bell_bench.records import LONG, Record, SolvedProblem, read_records
from bell_bench_algorithms.picle.options import NTOptions
from bell_bench_leaderboard.boards import SETTINGS

_RESULTS = pathlib.Path(__file__).parents[1] / "leaderboard/published"
PUBLISHED = [_RESULTS / "bell-all-quick.zip", _RESULTS / "reproduction/picle-two-seeds.zip"]
MARGIN = 0.5
"""Points of test accuracy within which two algorithms count as equal."""
WORST = 6
KNOWN = "validation_accuracy"
SHORTEST = NTOptions().l_min
"""The length of the shortest suffixes that NT tries."""
CAUSES = ("backward", "validation", "space", "library", "statistics", "search", "training", "seed")


@dataclass(frozen=True)
class Difference:
    """PICLE minus another algorithm on one problem, in points."""

    test: float
    validation: float
    cause: str
    """Why it is a loss; empty if it is not a loss."""
    where: str
    path: str


def points(difference: float) -> float:
    """Return a difference of accuracies in points, without the noise of the last digits."""
    return round(100 * difference, 6)


def evaluated(problem: SolvedProblem) -> list[Mapping[str, Any]]:
    """Return all paths with their validation accuracies; none if the algorithm does not search
    paths."""
    return next((note["evaluated"] for note in problem.notes if "evaluated" in note), [])


def best(problem: SolvedProblem) -> tuple[float, ModulePath]:
    """Return the highest validation accuracy and its path. The accuracy is NaN if it is not
    recorded; the path is empty if the algorithm does not search paths."""
    if paths := evaluated(problem):
        chosen = max(paths, key=lambda each: float(each["accuracy"]))
        return float(chosen["accuracy"]), ModulePath(tuple(chosen["path"]))
    facts = [fact for note in problem.notes for fact in note.values() if isinstance(fact, dict)]
    known = [float(fact[KNOWN]) for fact in facts if KNOWN in fact]
    return known[-1] if known else math.nan, ModulePath(())


def origins(problems: Iterable[SolvedProblem]) -> dict[str, object]:
    """Return, for each module, what determines its weights: its problem, and the modules that it
    was trained with. The same path, problem and modules give the same weights in every run."""
    found: dict[str, object] = {}
    for problem in problems:
        solution = problem.path or ()
        held = tuple(found.get(name) for name in solution)
        for layer, name in enumerate(solution):
            found.setdefault(name, (problem.index, layer, held))
    return found


def cause(
    mine: Sequence[SolvedProblem], theirs: Sequence[SolvedProblem], *, one_seed: bool = True
) -> str:
    """Return why PICLE solved the last of these problems worse."""
    accuracy, path = best(theirs[-1])
    if points(mine[-1].accuracy_final - theirs[-1].accuracy_learnt) >= -MARGIN:
        return "backward"
    if best(mine[-1])[0] >= accuracy:
        return "validation"
    if not one_seed:
        return "seed"
    if not path:
        return "training"
    reused = [name for name in path if name != NEW]
    prefix = path == ModulePath.prefix(reused, len(path))
    suffix = path == ModulePath.suffix(reused, len(path)) and len(reused) >= SHORTEST
    if not prefix and not (suffix and ends_one(reused, theirs[:-1])):
        return "space"
    has, used = origins(mine[:-1]), origins(theirs[:-1])
    if any(has.get(name) != used[name] for name in reused):
        return "library"
    return "statistics" if prefix else "search"


def ends_one(names: list[str], earlier: Iterable[SolvedProblem]) -> bool:
    """Return whether one earlier solution ends in these modules."""
    return any(problem.path[-len(names) :] == names for problem in earlier)


def differences(picle: Mapping[Any, Record], other: Mapping[Any, Record]) -> Iterator[Difference]:
    """Yield the differences on all problems that both have solved."""
    for key in sorted(picle.keys() & other.keys()):
        job, mine, theirs = picle[key].job, picle[key].problems, other[key].problems
        one_seed = job.seed == other[key].job.seed
        for index, (own, its) in enumerate(zip(mine, theirs, strict=True)):
            test = points(own.accuracy_final - its.accuracy_final)
            accuracy, path = best(its)
            yield Difference(
                test,
                points(best(own)[0] - accuracy),
                cause(mine[: index + 1], theirs[: index + 1], one_seed=one_seed)
                if test < -MARGIN
                else "",
                f"{job.sequence} r{job.realisation} problem {index + 1} {own.name}",
                str(path),
            )


def choices(picle: Iterable[Record]) -> Iterator[tuple[bool, float, float]]:
    """Yield, for every layer of the PT search that has a choice: whether the prior changed it, by
    how much the likeliest module leads the second, and by how much the priors differ at most."""
    for record in picle:
        for problem in record.problems:
            for note in problem.notes:
                for layer in note.get("pt", {}).get("layers", ()):
                    found = layer["candidates"]
                    if len(found) < 2:
                        continue
                    first, second, *_ = sorted(found, key=lambda each: -each["log_likelihood"])
                    priors = [each["log_prior"] for each in found]
                    lead = first["log_likelihood"] - second["log_likelihood"]
                    yield layer["chosen"] != first["module"], lead, max(priors) - min(priors)


def grouped(records: Iterable[Record]) -> dict[str, dict[str, dict[Any, Record]]]:
    """Return finished jobs by group, algorithm, and sequence with realisation. Each long sequence
    is a group, and so is each setting. Another seed counts as another algorithm."""
    groups: dict[str, dict[str, dict[Any, Record]]] = {}
    for record in records:
        job = record.job
        if record.done:
            which = job.sequence if len(record.problems) > LONG else "short sequences"
            group = ", ".join((which, *(str(getattr(job, name)) for name in SETTINGS)))
            name = job.algorithm + (f", seed {job.seed}" if job.seed else "")
            key = job.sequence, job.realisation
            known = groups.setdefault(group, {}).setdefault(name, {})
            if key in known:
                raise SystemExit(f"{name} on {key} is there twice: give runs of one variant only")
            known[key] = record
    return groups


def table(found: Mapping[str, Sequence[Difference]], again: Mapping[str, int]) -> Iterator[str]:
    """Yield problems won and lost to each algorithm, and the losses by cause, as Markdown."""
    yield f"| against | problems | better on | worse on | {' | '.join(CAUSES)} | again |"
    yield f"| --- |{' ---: |' * (4 + len(CAUSES))}"
    for name, each in found.items():
        causes = Counter(one.cause for one in each if one.cause)
        better = sum(one.test > MARGIN for one in each)
        counts = (len(each), better, causes.total(), *(causes[one] for one in CAUSES))
        yield f"| {name} | {' | '.join(map(str, counts))} | {again.get(name, '–')} |"


def losses(found: Iterable[Difference]) -> set[str]:
    """Return where PICLE loses for a reason other than validation."""
    return {each.where for each in found if each.cause not in ("", "validation")}


def report(jobs: Mapping[str, Mapping[Any, Record]]) -> Iterator[str]:
    """Yield the report of one group: the table, the worst losses to each algorithm, and the effect
    of the prior."""
    found = {
        name: sorted(differences(jobs["picle"], jobs[name]), key=lambda each: each.test)
        for name in sorted(jobs.keys() - {"picle"})
    }
    seeds = [jobs[name] for name in jobs if name.startswith("picle, seed")]
    again = {
        name: len(set.intersection(
            losses(found[name]), *(losses(differences(other, jobs[name])) for other in seeds)))
        for name in found if seeds and ", seed" not in name
    }  # fmt: skip
    yield from table(found, again)
    for name, each in found.items():
        yield f"\n{name}"
        for one in [one for one in each if one.cause][:WORST]:
            yield (f"  {one.test:+6.2f} test {one.validation:+6.2f} validation  {one.cause:<10}  "
                   f"{one.where}  {one.path}")  # fmt: skip
    if not (known := list(choices(jobs["picle"].values()))):
        return
    changed, leads, priors = zip(*known, strict=True)
    yield (f"\nPT search: {len(changed)} choices of a module, the prior changed {sum(changed)}; "
           f"the likeliest leads by {median(leads):,.0f} nats, priors differ by at most "
           f"{median(priors):,.0f} (medians)")  # fmt: skip


def main(runs: list[pathlib.Path]) -> int:
    groups = {name: jobs for name, jobs in grouped(read_records(runs)).items() if "picle" in jobs}
    for name, jobs in groups.items():
        print(f"\n{name}\n", *report(jobs), sep="\n")
    if not groups:
        print("no finished job of picle here")
    return int(not groups)


if __name__ == "__main__":
    sys.exit(main([pathlib.Path(each) for each in sys.argv[1:]] or PUBLISHED))
