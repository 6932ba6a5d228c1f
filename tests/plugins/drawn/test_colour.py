"""The embedded stand-ins: the same everywhere, distinct, and told apart by shape."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from bell_bench_drawn import colour as drawn
from bell_bench_drawn.glyphs import SPLITS

PINNED = "7849632a60bef7d30517ee0e73d01442cc0905332b44884e936f363deeb1059a"
"""Of three images of five classes of every dataset and split. It may change only together with
``drawn.VERSION``, and then every published figure on embedded colour images is void."""


def _classes(name: str) -> list[int]:
    last = drawn.ARTISTS[name].classes - 1
    return [0, 1, last // 2, last - 1, last]


def test_pixels_are_pinned():
    digest = hashlib.sha256()
    for name in drawn.ARTISTS:
        for label in _classes(name):
            for split in SPLITS:
                digest.update(drawn.draw(name, label, split, 3).tobytes())
    assert digest.hexdigest() == PINNED


@pytest.mark.parametrize("name", drawn.ARTISTS)
def test_fewer_images_are_the_first_of_more(name):
    more = drawn.draw(name, 3, "train", drawn.BLOCK + 5)
    assert more.shape == (drawn.BLOCK + 5, 32, 32, 3)
    assert more.dtype == np.uint8
    for count in (1, drawn.BLOCK, drawn.BLOCK + 2):
        np.testing.assert_array_equal(drawn.draw(name, 3, "train", count), more[:count])


@pytest.mark.parametrize("name", drawn.ARTISTS)
def test_no_image_occurs_twice_and_none_is_blank(name):
    images = np.concatenate(
        [drawn.draw(name, label, split, 20) for label in _classes(name) for split in SPLITS]
    )
    assert len({image.tobytes() for image in images}) == len(images)
    assert images.std(axis=(1, 2, 3)).min() > 4
    assert np.median(images.std(axis=(1, 2, 3))) > 20


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_grey_stand_ins_are_grey(name):
    images = drawn.draw(name, 5, "test", 10)
    assert (images == images[..., :1]).all()
    assert (images[:, :2].mean(), images[:, -2:].mean()) < (30, 30)  # on black


def _nearest_centre(name: str, features) -> float:
    """Accuracy of the nearest class mean of some features, over the first ten classes."""
    train, test = (
        [features(drawn.draw(name, label, split, 64).astype(float)) for label in range(10)]
        for split in ("train", "test")
    )
    centres = np.stack([each.mean(axis=0) for each in train])
    right = [
        (((each[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1) == label).mean()
        for label, each in enumerate(test)
    ]
    return float(np.mean(right))


def _mean_colour(images):
    return images.mean(axis=(1, 2))


def _pixels(images):
    return images.reshape(len(images), -1)


@pytest.mark.parametrize("name", ["cifar10", "cifar100", "svhn", "dtd"])
def test_colour_alone_does_not_tell_a_class(name):
    assert _nearest_centre(name, _mean_colour) < 0.3


@pytest.mark.parametrize(("name", "least"), [("mnist", 0.6), ("fashion_mnist", 0.35)])
def test_shapes_tell_a_class(name, least):
    assert _nearest_centre(name, _pixels) > least


def test_members_of_a_family_share_their_body():
    from bell_bench_drawn.colour import objects

    first, second, stranger = (objects._member(*place) for place in ((3, 0), (3, 1), (4, 0)))
    assert first[:3] == second[:3]
    assert first[3:] != second[3:]
    assert first[2] != stranger[2]
