"""The colour images of CTrL's streams: embedded stand-ins or real ones. Imports no torch."""

from bell_bench.data.colour.datasets import DATASETS, DatasetInfo
from bell_bench.data.colour.domain import ColourDomain, ColourImages
from bell_bench.data.colour.formatting import rainbow
from bell_bench.data.colour.loading import classes_here, load, missing

__all__ = [
    "DATASETS",
    "ColourDomain",
    "ColourImages",
    "DatasetInfo",
    "classes_here",
    "load",
    "missing",
    "rainbow",
]
