"""The same sequences at three sizes."""

from __future__ import annotations

from dataclasses import dataclass

from bell_bench.data import DomainSizes
from bell_bench.modular.settings import TrainingSettings
from bell_bench.suites.bell.protocol import BellProtocol


@dataclass(frozen=True)
class BellScale:
    """Points, images, network width, updates and patience; never the pattern of a sequence."""

    name: str
    summary: str
    plus_points: int
    minus_points: int
    validation_points: int
    test_points: int
    domain: DomainSizes
    width: int
    """Channels of the two convolutions; the fully connected layers keep their 64 units."""
    patience: int
    patience_epochs: int = 0
    max_updates: int | None = None
    validate_every: int | None = None
    learning_rate: float | None = None
    """None: the protocol's. A shorter training needs larger steps."""
    weight_decay: float | None = None

    def settings(self, protocol: BellProtocol) -> TrainingSettings:
        return TrainingSettings(
            learning_rate=self.learning_rate or protocol.learning_rate,
            weight_decay=self.weight_decay or protocol.weight_decay,
            max_updates=self.max_updates,
            patience=self.patience,
            patience_epochs=self.patience_epochs,
            validate_every=self.validate_every,
            select=protocol.select,
        )


SCALES = {
    "quick": BellScale(
        name="quick",
        summary="minutes on two cores; the default",
        plus_points=8_000,
        minus_points=2_400,
        validation_points=1_000,
        test_points=2_000,
        domain=DomainSizes(train=12_000, validation=800, test=1_200),
        width=16,
        max_updates=1_000,
        patience=150,
        patience_epochs=2,
        validate_every=50,
        learning_rate=0.001,
        weight_decay=0.02,
    ),
    "standard": BellScale(
        name="standard",
        summary="an hour or two on two cores",
        plus_points=30_000,
        minus_points=10_000,
        validation_points=2_500,
        test_points=5_000,
        domain=DomainSizes(train=16_000, validation=2_400, test=4_000),
        width=32,
        max_updates=6_000,
        patience=1_500,
        validate_every=250,
        learning_rate=0.0007,
        weight_decay=0.02,
    ),
    "paper": BellScale(
        name="paper",
        summary="the published sizes",
        plus_points=30_000,
        minus_points=10_000,
        validation_points=5_000,
        test_points=5_000,
        domain=DomainSizes(train=None, validation=4_800, test=None),
        width=64,
        patience=6_000,
    ),
}
