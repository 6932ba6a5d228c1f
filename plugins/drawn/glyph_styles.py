"""The nine hands that write the embedded glyphs: each its own alphabet and its own look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hand:
    """How one domain writes. Lengths are in units of half the image's side."""

    seed: int
    strokes: int
    """Strokes per glyph."""
    allographs: int
    """In how many ways each class is written."""
    kinship: float
    """The share of strokes that other ways of writing a class have in common with the first."""
    joined: float
    """The share of strokes that begin where the last one ended."""
    curl: float
    """How far strokes bend; 0 for straight ones."""
    jitter: float
    """Standard deviation of each control point, per image."""
    turn: float
    """Spread of rotation, shear and scale, per image."""
    shift: float
    warp: float
    """Strength of the elastic warp."""
    grain: float
    """Amplitude of pixel noise, in grey levels of 0 to 1."""
    pen: tuple[float, float]
    """Softness of the pen across and down: weight of the outer taps of its blur."""
    nib: tuple[int, int] = (0, 0)
    """Offset (down, across) of a broad nib's second edge."""
    pressure: tuple[float, float] = (1.0, 1.8)
    """Range of ink flow; more flow, thicker strokes."""
    slant: float = 0.0
    ink: tuple[float, float] = (0.8, 1.0)
    """Range of the ink's grey."""
    paper: tuple[float, float] = (0.0, 0.0)
    """Range of the paper's grey."""
    hollow: bool = False
    """Whether only a stroke's outline is drawn."""
    dash: int = 0
    """Length of dashes in sampled points; 0 for solid lines."""
    rule: tuple[int, float] = (0, 0.0)
    """Ruled paper: distance of lines (negative for columns) and their grey."""
    shade: float = 0.0
    """Strength of uneven light over the paper."""


NAMES = ("mnist_1", "fmnist_1", "k49_1", "k49_2", "k49_3", "k49_4", "emnist_1", "emnist_2",
         "emnist_3")  # fmt: skip
"""Of the domains that the hands stand in for, in BELL's order."""

_HANDS = (
    Hand(seed=1, strokes=3, allographs=5, kinship=0.5, joined=0.7, curl=0.6, jitter=0.13,
         turn=0.18, shift=0.14, warp=0.12, grain=0.05, pen=(0.5, 0.5)),
    Hand(seed=2, strokes=4, allographs=4, kinship=0.6, joined=0.9, curl=0.3, jitter=0.11,
         turn=0.14, shift=0.12, warp=0.12, grain=0.20, pen=(1.0, 1.0), hollow=True,
         pressure=(1.2, 2.2)),
    Hand(seed=3, strokes=3, allographs=5, kinship=0.5, joined=0.5, curl=0.9, jitter=0.13,
         turn=0.18, shift=0.14, warp=0.16, grain=0.10, pen=(0.6, 0.3), nib=(1, 1)),
    Hand(seed=4, strokes=4, allographs=5, kinship=0.5, joined=0.6, curl=0.5, jitter=0.13,
         turn=0.18, shift=0.14, warp=0.14, grain=0.12, pen=(0.3, 0.8), slant=0.35,
         ink=(0.0, 0.15), paper=(0.75, 0.95), shade=0.2),
    Hand(seed=5, strokes=3, allographs=6, kinship=0.5, joined=0.4, curl=0.0, jitter=0.14,
         turn=0.18, shift=0.14, warp=0.10, grain=0.10, pen=(0.2, 0.2), rule=(5, 0.35)),
    Hand(seed=6, strokes=4, allographs=5, kinship=0.5, joined=0.6, curl=0.7, jitter=0.13,
         turn=0.18, shift=0.14, warp=0.14, grain=0.08, pen=(0.2, 0.2), dash=5,
         pressure=(1.2, 2.0)),
    Hand(seed=7, strokes=3, allographs=5, kinship=0.5, joined=0.7, curl=0.6, jitter=0.14,
         turn=0.18, shift=0.14, warp=0.14, grain=0.06, pen=(0.2, 1.0), nib=(0, 2), slant=-0.3),
    Hand(seed=8, strokes=3, allographs=5, kinship=0.5, joined=0.8, curl=0.4, jitter=0.12,
         turn=0.16, shift=0.13, warp=0.12, grain=0.25, pen=(0.7, 0.7), ink=(0.6, 0.9),
         paper=(0.1, 0.3)),
    Hand(seed=9, strokes=4, allographs=5, kinship=0.5, joined=0.5, curl=0.6, jitter=0.13,
         turn=0.18, shift=0.14, warp=0.14, grain=0.08, pen=(0.4, 0.4), nib=(1, -1),
         rule=(-4, 0.7), ink=(0.0, 0.2), paper=(0.85, 1.0)),
)  # fmt: skip

HANDS = dict(zip(NAMES, _HANDS, strict=True))
