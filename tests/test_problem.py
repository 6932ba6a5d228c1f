"""Problems: what a split gives when it is cut down."""

from __future__ import annotations

import numpy as np

from bell_bench.problem import Split


def test_a_subset_keeps_its_images_only() -> None:
    images = np.arange(20, dtype=np.uint8).reshape(10, 2)
    index = np.array([[0, 9], [3, 3], [9, 1]], dtype=np.int32)
    split = Split(images, index, 1.0, 2.0, labels=np.array([0, 1, 1]))
    kept = split.subset([2, 0])
    assert len(kept.images) == 3
    assert np.array_equal(kept.images[kept.index], images[index[[2, 0]]])
    assert kept.labels.tolist() == [1, 0]
    assert (kept.mean, kept.std) == (1.0, 2.0)
