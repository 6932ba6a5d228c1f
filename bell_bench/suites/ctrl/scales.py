"""The same streams at three sizes, for each of the two set-ups."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bell_bench.modular.settings import TrainingSettings
from bell_bench.suites.bell.protocol import row

BATCH = 64
NEVER = 10**9
"""Updates of patience that no training uses up."""


@dataclass(frozen=True)
class CtrlScale:
    """Images, network width, updates and patience; never the pattern of a stream.

    Images are counted per class, for training and for validation. The defaults are the published.
    """

    name: str
    summary: str
    large: tuple[int, int] = row("Images per class of a large task", (400, 200))
    small: tuple[int, int] = row("Of a small task", (40, 20))
    few: tuple[int, int] = row("Of s_in's last task, and of s_long's small ones", (5, 3))
    long: tuple[int, int] = row("Of s_long's large tasks", (1000, 500))
    test: int = row("Test images per class, if there are as many", 1000)
    width: int = row("Channels of every map", 64)
    learning_rate: float = row("Adam's learning rate", 1e-3)
    weight_decay: float = row("Adam's weight decay, in the gradient", 1e-3)
    max_epochs: int = row("Epochs at most", 100)
    max_updates: int | None = row("Updates at most", None)
    validate_every: int | None = row("Updates between validations; none: an epoch", None)
    patience: int | None = row("Updates without a lower validation loss before stopping", None)
    augment: bool = row("Random crops and mirror images in training", False)
    grid: tuple[tuple[float, float], ...] = row(
        "Learning rates and weight decays that are tried instead; the best is kept", ()
    )

    @property
    def training(self) -> TrainingSettings:
        return TrainingSettings(
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            optimiser="adam",
            batch=BATCH,
            max_epochs=self.max_epochs,
            max_updates=self.max_updates,
            patience=self.patience or NEVER,
            validate_every=self.validate_every,
            augment=self.augment,
            grid=self.grid,
        )


SCALES = {
    "quick": CtrlScale(
        name="quick",
        summary="minutes on two cores; the default",
        large=(100, 50),
        long=(100, 50),
        test=50,
        width=16,
        learning_rate=4e-3,
        max_updates=200,
        validate_every=10,
        patience=80,
    ),
    "standard": CtrlScale(
        name="standard",
        summary="hours on two cores",
        long=(400, 50),
        test=200,
        width=32,
        max_updates=1500,
        patience=500,
    ),
    "paper": CtrlScale(name="paper", summary="the published sizes"),
}
"""Of LMC's set-up: at ``paper`` nothing but the epochs ends a training."""

GRID = tuple((rate, decay) for rate in (1e-2, 1e-3) for decay in (0.0, 1e-5, 1e-4))

RESNET_SCALES = {
    "quick": replace(
        SCALES["quick"],
        width=8,
        max_updates=160,
        patience=100,
        augment=True,
        grid=((1e-2, 0.0), (1e-3, 0.0)),
    ),
    "standard": replace(
        SCALES["standard"],
        width=16,
        max_epochs=1000,
        max_updates=600,
        patience=150,
        augment=True,
        grid=GRID,
    ),
    "paper": replace(SCALES["paper"], max_epochs=1000, patience=300, augment=True, grid=GRID),
}
"""Of the original set-up."""
