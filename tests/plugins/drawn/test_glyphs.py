"""The embedded glyphs: the same everywhere, distinct between splits and between domains."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from bell_bench_drawn import glyphs
from bell_bench_drawn.glyph_styles import NAMES

PINNED = "aca3e1be5f6091f1fb87cddccae5ed9c480caacd88d9b94622544915a130d361"
"""Of the first 64 training, validation and test images of all domains. It may change only
together with ``glyphs.VERSION``, and then every published figure on glyphs is void."""


def test_pixels_are_pinned():
    digest = hashlib.sha256()
    for name in NAMES:
        for split in glyphs.SPLITS:
            digest.update(glyphs.draw(name, split, 64)[0].tobytes())
    assert digest.hexdigest() == PINNED


@pytest.mark.parametrize("count", [1, 100, glyphs.BLOCK, glyphs.BLOCK + 40])
def test_a_domain_is_a_prefix_of_a_larger_one(count):
    images, labels = glyphs.draw("k49_1", "train", count)
    more_images, more_labels = glyphs.draw("k49_1", "train", 2 * glyphs.BLOCK)
    assert images.shape == (count, 28, 28)
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(images, more_images[:count])
    np.testing.assert_array_equal(labels, more_labels[:count])


def test_every_prefix_is_balanced():
    _, labels = glyphs.draw("mnist_1", "test", 1003)
    counts = np.bincount(labels, minlength=8)
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_no_image_occurs_twice(name):
    drawn = [glyphs.draw(name, split, 2 * glyphs.BLOCK)[0] for split in glyphs.SPLITS]
    images = np.concatenate(drawn)
    assert len({image.tobytes() for image in images}) == len(images)


@pytest.mark.parametrize("name", NAMES)
def test_glyphs_are_neither_blank_nor_cropped_away(name):
    images = glyphs.draw(name, "train", 256)[0].astype(float)
    middle, border = images[:, 6:22, 6:22], images[:, [0, -1]]
    assert (middle.std(axis=(1, 2)) > 20).mean() > 0.98
    assert middle.std() > border.std()


def _projected(seed: int, count: int) -> list[np.ndarray]:
    random = np.random.RandomState(seed)
    projection = random.standard_normal((784, 20)) / 28
    samples = []
    for name in NAMES:
        images = glyphs.draw(name, "train", 2 * count)[0].reshape(2 * count, -1)
        standard = (images - images.mean()) / images.std()
        samples.append(random.permutation(standard @ projection))
    return samples


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_domains_are_told_apart_by_their_inputs(seed):
    """One Gaussian per domain on 20 random projections, as PICLE's PT search sees inputs."""
    count = 500
    samples = _projected(seed, count)
    likelihoods = np.empty((9, 9))
    for column, fitted in enumerate(samples):
        mean, covariance = fitted[:count].mean(0), np.cov(fitted[:count].T)
        volume = np.linalg.slogdet(covariance)[1]
        for row, sample in enumerate(samples):
            away = sample[count:] - mean
            spread = (away * np.linalg.solve(covariance, away.T).T).sum()
            likelihoods[row, column] = -0.5 * (spread + count * volume)
    assert likelihoods.argmax(1).tolist() == list(range(9))
