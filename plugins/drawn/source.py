"""The source of the drawn images: nine hands for BELL, six artists for CTrL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bell_bench import DomainSizes, SourceDomain
from bell_bench_drawn import colour, glyphs
from bell_bench_drawn.colour import canvas
from bell_bench_drawn.glyph_styles import HANDS


class DrawnImages:
    """Draws every image when it is first needed."""

    @property
    def domains(self) -> Sequence[SourceDomain]:
        """The grey domains, then those in colour."""
        grey = [
            SourceDomain(
                name,
                (glyphs.SIDE, glyphs.SIDE),
                glyphs.CLASSES,
                DomainSizes(**glyphs.ALL),
                str(glyphs.VERSION),
            )
            for name in HANDS
        ]
        coloured = [
            SourceDomain(
                name,
                (canvas.SIDE, canvas.SIDE, 3),
                artist.classes,
                DomainSizes(
                    *(artist.classes * n for n in (artist.train, artist.validation, artist.test))
                ),
                str(colour.VERSION),
            )
            for name, artist in colour.ARTISTS.items()
        ]
        return [*grey, *coloured]

    def draw(
        self, name: str, split: str, count: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the first ``count`` images of a split and their labels."""
        if name in HANDS:
            return glyphs.draw(name, split, count)
        return colour.draw_pool(name, split, count)


SOURCE = DrawnImages()
