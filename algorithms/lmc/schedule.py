"""How long a problem is trained, when it is validated, and when a new module is projected."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bell_bench import TrainingSettings
from bell_bench_algorithms.lmc.options import Hyperparameters
from bell_bench_algorithms.lmc.outliers import FEW

AFTER_PROJECTION = 10
"""After a new module's projection, training goes on for at least this many epochs."""


@dataclass
class Schedule:
    """A problem's schedule, in updates. Scales that train less have shorter projections."""

    epoch: int
    """Updates per epoch."""
    limit: int
    """Updates after which training ends."""
    projection: int
    """Updates of a projection."""
    remainder: int
    """Updates that must follow an addition, its projection included."""
    every: int
    """Updates between validations."""
    window: int
    """Batches whose errors tell what a module is used to."""
    patience: int
    """Training ends after so many updates without a lower validation loss."""
    updates: int = 0
    projected: int = 0
    """The update with which the last projection ends."""
    lowest: tuple[float, int] = (math.inf, 0)
    """The lowest validation loss and after how many updates it was found."""

    @staticmethod
    def of(points: int, settings: TrainingSettings, values: Hyperparameters) -> Schedule:
        """Return the schedule for a training set of ``points`` inputs."""
        epoch = math.ceil(points / settings.batch)
        limit = min(values.epochs, settings.max_epochs) * epoch
        if settings.max_updates is not None:
            limit = min(limit, settings.max_updates)
        unit = limit / values.epochs
        after = values.projection_epochs + AFTER_PROJECTION
        return Schedule(
            epoch=epoch,
            limit=limit,
            projection=round(values.projection_epochs * unit),
            remainder=max(1, math.ceil(after * unit)),
            every=max(settings.validate_every or 0, epoch),
            window=max(FEW + 1, round(values.window * unit / epoch)),
            patience=max(settings.patience, settings.patience_epochs * epoch),
        )

    @property
    def projecting(self) -> bool:
        return self.updates < self.projected

    @property
    def validating(self) -> bool:
        """Whether a validation is due after the last update; never within a projection."""
        due = self.updates % self.every == 0 or self.updates >= self.limit
        return due and not self.projecting

    @property
    def over(self) -> bool:
        since = max(self.lowest[1], self.projected)
        return self.updates >= self.limit or self.updates - since >= self.patience

    def added(self) -> None:
        """A module was added: project it, and leave time to train it."""
        self.projected = self.updates + self.projection
        self.limit = max(self.limit, self.updates + self.remainder)

    def validated(self, loss: float) -> None:
        self.lowest = min(self.lowest, (loss, self.updates))
