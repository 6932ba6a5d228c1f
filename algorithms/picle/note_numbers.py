"""Numbers as notes hold them."""

from __future__ import annotations

import math


def told(number: float) -> float | None:
    """Six significant digits; None for what JSON does not know."""
    return float(f"{number:.6g}") if math.isfinite(number) else None
