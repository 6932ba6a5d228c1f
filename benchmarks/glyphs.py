"""Measures how fast the embedded glyphs are drawn: seconds for 9 x 6,000 images on one core.

python benchmarks/glyphs.py
"""

from __future__ import annotations

import time

from bell_bench_drawn import glyphs
from bell_bench_drawn.glyph_styles import NAMES

COUNT = 6_000
LIMIT = 15.0


def main() -> None:
    started = time.perf_counter(), time.process_time()
    for name in NAMES:
        glyphs.draw(name, "train", COUNT)
    wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    print(f"9 x {COUNT} glyphs: {wall:.1f} s ({cpu:.1f} s of CPU); the limit is {LIMIT:.0f} s")
    if cpu > LIMIT:
        raise SystemExit("too slow")


if __name__ == "__main__":
    main()
