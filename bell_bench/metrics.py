"""The metrics of the paper's appendix "Experimental Measurements", in percentage points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Accuracies = Sequence[float]
"""Per problem of a sequence, in [0, 1]."""

STANDALONE = "bell-bench:sa"
"""The algorithm whose run on the same problems Tr⁻¹ compares with."""


def _same_length(final: Sequence[float], learnt: Sequence[float]) -> None:
    if len(final) != len(learnt) or not len(final):
        raise ValueError(
            f"accuracies at the end and when learnt must be as many, and at least one: "
            f"{len(final)} and {len(learnt)}"
        )


def average_accuracy(final: Sequence[float]) -> float:
    """A: the final model's accuracy, averaged over all problems. Accuracies are in [0, 1]."""
    return 100 * float(np.mean(final))


def forgetting(final: Sequence[float], learnt: Sequence[float]) -> float:
    """F: accuracy at the end minus when learnt, averaged; below 0 where the model forgot."""
    _same_length(final, learnt)
    return 100 * float(np.mean(np.subtract(final, learnt)))


def last_transfer(final: Sequence[float], standalone: Sequence[float]) -> float:
    """Tr⁻¹: the last problem's accuracy minus that of the standalone run on the same problem."""
    _same_length(final, standalone)
    return 100 * float(final[-1] - standalone[-1])


def backward_transfer(final: Sequence[float], learnt: Sequence[float]) -> float:
    """The first problem's accuracy at the end minus when learnt: what S_plus is made to show."""
    _same_length(final, learnt)
    return 100 * float(final[0] - learnt[0])


def of_accuracies(final: Sequence[float], learnt: Sequence[float]) -> dict[str, float]:
    """All that a job's own accuracies give, as its record states them."""
    return {
        "A": average_accuracy(final),
        "F": forgetting(final, learnt),
        "backward_transfer": backward_transfer(final, learnt),
    }


@dataclass(frozen=True)
class Score:
    """A metric that every job gets: a column of the CSV, the tables, the page and
    ``Results.leaderboard``."""

    name: str
    """Of its column."""
    title: str
    """In tables."""
    says: str
    """What it means, in a line."""
    of: Callable[[Accuracies, Accuracies, Accuracies | None], float | None]
    """Its value, from the accuracies at the end, when learnt, and of the standalone run on the same
    problems, if there is one; None where it has none."""
    signed: bool = True
    """Whether it is a difference, printed with its sign."""
    against_standalone: bool = False
    """Whether that difference is to the standalone run's."""

    @property
    def form(self) -> str:
        """How it is printed."""
        return "{:+.2f}" if self.signed else "{:.2f}"


SCORES = (
    Score(
        "A",
        "A",
        "the final model's test accuracy, averaged over all problems, in %",
        lambda final, learnt, alone: average_accuracy(final),
        signed=False,
    ),
    Score(
        "F",
        "F",
        "accuracy at the end minus when learnt; below 0 where the model forgot",
        lambda final, learnt, alone: forgetting(final, learnt),
    ),
    Score(
        "Tr_last",
        "Tr⁻¹",
        "accuracy on the last problem minus that of a standalone network (SA)",
        lambda final, learnt, alone: None if alone is None else last_transfer(final, alone),
        against_standalone=True,
    ),
)
"""All of them, in the order of their columns. A new one needs its line here and nothing else."""
