"""LMC's published hyperparameters by stream, and the options that replace them. Imports no torch:
every command reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from bell_bench import Option

MEAN = "mean"
MOST_LIKELY = "most-likely"
FRESH_STATISTICS = "most-likely-fresh-statistics"


def _option(kind: type, help: str, **more: Any) -> Any:
    text = f"{help}; none: the stream's published value."
    return field(metadata={"option": Option(kind, None, text, optional=True, **more)})


@dataclass(frozen=True)
class Hyperparameters:
    """What LMC's authors chose for a stream."""

    threshold: float = _option(
        float, "Outlier score from which a batch is new to a module", above=0
    )
    temperature: float = _option(float, "Temperature of a module's likelihood", above=0)
    prior_temperature: float = _option(float, "Temperature of a module's prior", above=0)
    regularisation: float = _option(float, "Weight of the structural loss", minimum=0)
    projection_epochs: int = _option(int, "Epochs of projection after an addition", minimum=0)
    init: str = _option(
        str,
        "How a module begins that is added to a layer: as the mean of the layer's, as a copy of "
        "the most likely one, or as such a copy but for its batch normalisation's statistics",
        choices=(MEAN, MOST_LIKELY, FRESH_STATISTICS),
    )
    window: int = _option(int, "Batches whose errors tell what a module is used to", minimum=3)
    weight_decay: float = _option(float, "Weight decay of the optimiser", minimum=0)
    epochs: int = _option(int, "Epochs per problem, at most as many as the scale allows", minimum=1)


_MINUS = Hyperparameters(
    threshold=4,
    temperature=0.1,
    prior_temperature=0.1,
    regularisation=10,
    projection_epochs=20,
    init=MEAN,
    window=100,
    weight_decay=1e-3,
    epochs=100,
)
_PLUS = replace(_MINUS, threshold=1.5, temperature=1, projection_epochs=5, init=MOST_LIKELY)
_LONG = Hyperparameters(
    threshold=4,
    temperature=1,
    prior_temperature=0.01,
    regularisation=1,
    projection_epochs=5,
    init=MOST_LIKELY,
    window=50,
    weight_decay=0,
    epochs=100,
)

PUBLISHED: Mapping[str, Hyperparameters] = {
    "s_minus": _MINUS,
    "s_out": _MINUS,
    "s_in": replace(_MINUS, init=MOST_LIKELY),
    "s_plus": _PLUS,
    "s_pl": replace(_PLUS, projection_epochs=10, init=FRESH_STATISTICS),
    "s_long": _LONG,
}
UNPUBLISHED = _LONG
"""Used for streams that the authors did not run: their choice for the most varied stream."""

OPTIONS = {item.name: item.metadata["option"] for item in fields(Hyperparameters)}


def hyperparameters(stream: str, options: Mapping[str, Any]) -> Hyperparameters:
    """Return the stream's published values, except for options that are set."""
    given = {name: value for name, value in options.items() if value is not None}
    return replace(PUBLISHED.get(stream, UNPUBLISHED), **given)
