"""How a path is trained. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingSettings:
    """Optimiser, batches and stopping of TrainAndEvaluate; part of an evaluation's identity."""

    learning_rate: float = 0.00016
    weight_decay: float = 0.97
    optimiser: str = "adamw"
    batch: int = 32
    max_epochs: int = 1200
    max_updates: int | None = None
    """A limit on updates besides ``max_epochs``; None for no other limit."""
    patience: int = 6000
    """Stop after this many updates without a lower validation loss."""
    patience_epochs: int = 0
    """The patience in epochs; the longer of the two applies."""
    select: str = "accuracy"
    """Which weights are returned: those of best validation ``accuracy``, or of lowest ``loss``."""
    validate_every: int | None = None
    """Updates between validations; None for one per epoch. The first is before any update."""
    augment: bool = False
    """Whether training images are randomly cropped and mirrored."""
    grid: tuple[tuple[float, float], ...] = ()
    """Pairs of learning rate and weight decay to try in turn instead of the two above. The pair
    with the best validation, by ``select``, is kept; the cost of all is charged."""
