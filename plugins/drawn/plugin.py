"""The drawn images, as a source."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench import SourceSpec, hookimpl


@hookimpl
def bell_bench_sources() -> Iterable[SourceSpec]:
    yield SourceSpec(
        "glyphs",
        load="bell_bench_drawn.source:SOURCE",
        summary="embedded, drawn by bell-bench itself, offline: nine alphabets of random strokes; "
        "in colour objects, digits, garments and textures",
        shapes=((28, 28), (32, 32, 3)),
        licence="MIT",
    )
