"""Everything becomes 32x32 RGB bytes, exactly as documented."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from bell_bench.data.official_colour import from_photograph
from bell_bench.data.resizing import resize, to_colour
from bell_bench.errors import UsageError
from bell_bench.suites.ctrl.rainbow import rainbow

grey = arrays(np.uint8, (2, 28, 28))
colour = arrays(np.uint8, (2, 32, 32, 3))


def _bilinear(image: np.ndarray) -> np.ndarray:
    """The textbook's, in floating point, pixel centres aligned, edges held."""
    place = np.clip((np.arange(32) + 0.5) * 28 / 32 - 0.5, 0, 27)
    rows = np.stack([np.interp(place, np.arange(28), column) for column in image.T], axis=1)
    return np.stack([np.interp(place, np.arange(28), row) for row in rows])


@given(grey)
@settings(max_examples=20, deadline=None)
def test_grey_images_are_enlarged_bilinearly_and_rounded(images):
    exact = np.stack([_bilinear(image.astype(float)) for image in images])
    np.testing.assert_array_equal(resize(images, 32), np.floor(exact + 0.5))


def test_torch_agrees():
    import torch

    images = np.random.RandomState(0).randint(0, 256, (4, 28, 28)).astype(np.uint8)
    theirs = torch.nn.functional.interpolate(
        torch.from_numpy(images[:, None]).double(), size=32, mode="bilinear", align_corners=False
    )
    assert np.abs(theirs[:, 0].numpy() - resize(images, 32)).max() <= 0.5


def test_grey_images_get_three_equal_channels():
    images = np.random.RandomState(0).randint(0, 256, (3, 28, 28)).astype(np.uint8)
    formatted = to_colour(images, 32)
    assert formatted.shape == (3, 32, 32, 3)
    assert formatted.dtype == np.uint8
    assert (formatted == formatted[..., :1]).all()


@given(colour, st.sampled_from(["red", "green", "blue"]))
@settings(max_examples=30, deadline=None)
def test_rainbow_is_the_formula(images, name):
    pure = {"red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1)}[name]
    before = images.copy()
    for image, coloured in zip(images.astype(int), rainbow(images, name), strict=True):
        np.testing.assert_array_equal(coloured, image + (image.max() - image) * np.array(pure))
    np.testing.assert_array_equal(images, before)


def test_rainbow_of_a_digit():
    images = np.zeros((1, 32, 32, 3), np.uint8)
    images[0, 10:20, 15] = 250
    green = rainbow(images, "green")
    assert green[0, 0, 0].tolist() == [0, 250, 0]
    assert green[0, 12, 15].tolist() == [250, 250, 250]
    with pytest.raises(UsageError, match="unknown colour 'purple'"):
        rainbow(images, "purple")


@pytest.mark.parametrize("size", [(64, 40), (40, 64), (32, 32), (33, 500), (20, 25)])
def test_a_photograph_keeps_its_middle(size):
    """Left to right and top to bottom gradients stay symmetric about the centre."""
    width, height = size
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = np.linspace(0, 255, width)[None]
    pixels[..., 1] = np.linspace(0, 255, height)[:, None]
    formatted = from_photograph(Image.fromarray(pixels)).astype(float)
    assert formatted.shape == (32, 32, 3)
    assert abs(formatted[..., :2].mean(axis=(0, 1)) - 127.5).max() < 6
    short = 0 if width <= height else 1
    assert np.ptp(formatted[..., short]) > 235  # the short side is kept whole


def test_a_photograph_may_be_grey():
    assert from_photograph(Image.new("L", (40, 50), 77)).tolist()[0][0] == [77, 77, 77]
