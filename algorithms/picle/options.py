"""The options of PICLE: what the paper varies. Imports no torch, as every command reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from bell_bench import Option

KERNELS = ("l2", "cov", "pc", "gpd", "gpd_pc", "gpd_l2", "gpd_l2_pc")


def _option(kind: type, default: Any, help: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(kind, default, help, **more)})


@dataclass(frozen=True)
class PTOptions:
    """Options of the search for perceptual transfer."""

    k: int = _option(
        int, 20, "Dimensions that wider inputs of a module are projected to.", minimum=1
    )
    temperature: float | None = _option(
        float, None, "T of the prior; none: 0.001, and 0.6248 on CTrL.", optional=True, above=0
    )
    ridge: float = _option(
        float, 0.01, "Added to a Gaussian's variances, as a share of their mean.", above=0
    )


@dataclass(frozen=True)
class NTOptions:
    """Options of the search for latent transfer."""

    l_min: int = _option(
        int, 3, "Modules of the suffixes that are searched through first.", minimum=1
    )
    c: int | None = _option(
        int,
        None,
        "Most suffixes of l_min modules evaluated; none: L + l_min.",
        optional=True,
        minimum=1,
    )
    beta: float = _option(float, 2.0, "Deviations that UCB adds to the mean.")
    ei_threshold: float = _option(
        float, 0.001, "Expected improvement, in accuracy, below which the search stops."
    )
    kernel: str = _option(str, "l2", "What makes two suffixes similar.", choices=KERNELS)
    first_points: str = _option(
        str, "central", "The first two suffixes: nearest to all others, or random.",
        choices=("central", "random"),
    )  # fmt: skip
    stored_inputs: int = _option(
        int, 40, "Inputs kept of each module that begins a suffix.", minimum=1
    )


SEARCHES = Option(str, "both", "Which searches run.", choices=("both", "pt", "nt"))


def declared(*options: type) -> dict[str, Option]:
    """Return the options as an ``AlgorithmSpec`` takes them."""
    return {item.name: item.metadata["option"] for kind in options for item in fields(kind)}


def chosen(kind: type, values: Mapping[str, Any]) -> Any:
    """Return an instance of ``kind``, with its fields from ``values`` where these have them."""
    names = {item.name for item in fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in names})
