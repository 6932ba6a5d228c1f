"""The paper's two ablations of PICLE, as ``bell-bench ablate`` runs them (docs/ablations.md)."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str, int, int], None]
"""Told while an ablation runs: what was done last, and how much of how much is done."""
