"""Random crops and mirror images, drawn together with the batches: the same for every path."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

PADDING = 4
"""How many zeros are put around an image before a part of its own size is cut out."""


def draw(random: np.random.RandomState, images: int) -> NDArray[np.int64]:
    """Return, per image, the first row and column of its crop, and whether it is mirrored."""
    corners = random.randint(0, 2 * PADDING + 1, (images, 2))
    mirrored = random.randint(0, 2, (images, 1))
    return np.concatenate([corners, mirrored], axis=1).astype(np.int64)


def crop_and_mirror(inputs: Tensor, random: np.random.RandomState) -> Tensor:
    """Return inputs (n, arity, height, width, channels) with each image cropped and mirrored.

    Where each image is cropped, and whether it is mirrored, is drawn from ``random``.
    """
    draws = torch.from_numpy(draw(random, len(inputs) * inputs.shape[1])).to(inputs.device)
    return augment(inputs.flatten(0, 1), draws).view_as(inputs)


def augment(images: Tensor, draws: Tensor) -> Tensor:
    """Return the drawn crops of images (n, height, width, channels)."""
    count, height, width, channels = images.shape
    padded = functional.pad(images, (0, 0, PADDING, PADDING, PADDING, PADDING))
    top, left, mirrored = draws.unsqueeze(-1).unbind(1)
    across = torch.arange(width, device=images.device)
    columns = left + torch.where(mirrored > 0, across.flip(0), across)
    rows = top + torch.arange(height, device=images.device)
    line, size = width + 2 * PADDING, (height + 2 * PADDING) * (width + 2 * PADDING)
    first = torch.arange(0, count * size, size, device=images.device)[:, None, None]
    pixels = first + rows[:, :, None] * line + columns[:, None, :]
    return padded.view(-1, channels).index_select(0, pixels.flatten()).view(images.shape)
