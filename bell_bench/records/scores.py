"""The scores of a job: the one list of scores, in percentage points.

The first four are those of the paper's appendix "Experimental Measurements".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bell_bench.records.costs import mean
from bell_bench.records.record import Record


@dataclass(frozen=True)
class JobAccuracies:
    """All test accuracies of a job, per problem and in [0, 1], from which scores are computed."""

    final: Sequence[float]
    """Accuracies of the final model."""
    learnt: Sequence[float]
    """Accuracies of the model right after it learnt the problem."""
    standalone: Sequence[float] | None = None
    """Accuracies of the standalone run on the same problems, if there is one."""
    matrix: Sequence[Sequence[float]] = ()
    """Row t: accuracies on problems 0..t after learning t. Empty for long sequences."""
    classes: Sequence[int] = ()
    """How many classes each problem has, from which the accuracy of chance follows."""

    def __post_init__(self) -> None:
        others = [self.learnt] + ([] if self.standalone is None else [self.standalone])
        if not self.final or any(len(each) != len(self.final) for each in others):
            raise ValueError(
                "there must be as many accuracies at the end as when learnt, and at least one: "
                f"{len(self.final)} and {', '.join(str(len(each)) for each in others)}"
            )

    @staticmethod
    def of(record: Record, standalone: Record | None = None) -> JobAccuracies:
        """Return the accuracies of a job that is done."""
        return JobAccuracies(
            record.final,
            record.learnt,
            None if standalone is None else standalone.final,
            record.matrix,
            [problem.classes for problem in record.problems],
        )


@dataclass(frozen=True)
class Score:
    """A figure that every job gets from its accuracies: a column of the CSV, the tables, the page
    and ``Results.leaderboard``."""

    name: str
    """The name of its column."""
    title: str
    """Its title in tables."""
    says: str
    """Its meaning, in a line."""
    of: Callable[[JobAccuracies], float | None]
    """A function that returns its value; None if it has none."""
    signed: bool = True
    """Whether it is a difference, printed with its sign."""
    against_standalone: bool = False
    """Whether it needs the standalone run's accuracies."""
    shown: bool = True
    """Whether tables show it; the CSV has it in any case."""
    recorded: str = ""
    """Its name in records and submissions, if that differs."""

    @property
    def form(self) -> str:
        """The format in which it is printed."""
        return "{:+.2f}" if self.signed else "{:.2f}"

    @property
    def key(self) -> str:
        """Its name in records and submissions."""
        return self.recorded or self.name


def average_accuracy(of: JobAccuracies) -> float:
    """Return A: the final model's accuracy, averaged over all problems."""
    return 100 * mean(of.final)


def forgetting(of: JobAccuracies) -> float:
    """Return F: mean accuracy at the end minus when learnt; below 0 if the model forgot."""
    return 100 * mean([end - learnt for end, learnt in zip(of.final, of.learnt, strict=True)])


def last_transfer(of: JobAccuracies) -> float | None:
    """Return Tr⁻¹: the last problem's accuracy minus that of a standalone run on it."""
    return None if of.standalone is None else 100 * (of.final[-1] - of.standalone[-1])


def backward_transfer(of: JobAccuracies) -> float:
    """Return the first problem's accuracy at the end minus when learnt; for S_plus."""
    return 100 * (of.final[0] - of.learnt[0])


SCORES = (
    Score("A", "A", "the final model's test accuracy, averaged over all problems, in %",
          average_accuracy, signed=False),
    Score("F", "F", "accuracy at the end minus when learnt; below 0 where the model forgot",
          forgetting),
    Score("Tr_last", "Tr⁻¹", "accuracy on the last problem minus that of a standalone network (SA)",
          last_transfer, against_standalone=True),
    Score("backward", "backward transfer",
          "accuracy on the first problem at the end minus when learnt", backward_transfer,
          shown=False, recorded="backward_transfer"),
)  # fmt: skip
"""All scores, in the order of their columns. A new one needs its line here and nothing else."""


def job_scores(of: JobAccuracies) -> dict[str, float | None]:
    """Return every score by its column's name."""
    return {score.name: score.of(of) for score in SCORES}


def recorded_scores(of: JobAccuracies) -> dict[str, float]:
    """Return the scores that a job's own accuracies give, named as in its record."""
    found = {score.key: score.of(of) for score in SCORES if not score.against_standalone}
    return {name: value for name, value in found.items() if value is not None}
