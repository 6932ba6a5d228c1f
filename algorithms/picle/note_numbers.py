"""Numbers as they are written into notes."""

from __future__ import annotations

import math


def told(number: float) -> float | None:
    """Return the number with six significant digits, or None if JSON cannot hold it."""
    return float(f"{number:.6g}") if math.isfinite(number) else None
