"""The two presets: what the paper says, and what its authors' code does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def row(help: str, default: Any) -> Any:
    """A field of the protocol with the sentence that the docs and ``describe`` show for it."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class BellProtocol:
    """Every place where the paper and its code disagree is one field."""

    name: str
    summary: str
    own_maps: bool = row("Each pattern has permutations of its own", False)
    minus_images: int = row("Unique images of a Ψ− problem", 100)
    latent_coordinates: int = row(
        "Coordinates, first in row-major order, of a latent Ψ− problem", 30
    )
    latent_before: str = row("Kind of problems 2-5 of S_in and S_sp: latent or plus", "latent")
    few_restricted: bool = row(
        "Ψ−− has 20 images and 10 coordinates, its validation 10 points as well", True
    )
    long_length: int = row("Problems in S_long", 60)
    vector_layers: int = row("FC layers for S_sp's flattened domain", 2)
    learning_rate: float = row("AdamW's learning rate", 0.00016)
    weight_decay: float = row("AdamW's decoupled weight decay", 0.97)
    select: str = row(
        "Which weights are kept: best validation accuracy or lowest validation loss", "accuracy"
    )


PROTOCOLS = {
    "paper": BellProtocol("paper", "what the paper says; its authors' code where it is silent"),
    "authors-code": BellProtocol(
        "authors-code",
        "what the published code does, to compare with the published tables",
        own_maps=True,
        minus_images=96,
        latent_coordinates=15,
        latent_before="plus",
        few_restricted=False,
        long_length=100,
        vector_layers=4,
        learning_rate=0.00015632046,
        weight_decay=0.9749541784205452,
        select="loss",
    ),
}
