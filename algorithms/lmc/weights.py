"""LMC's equations: how likely a module is given its reconstruction errors, and the loss of them.

``errors`` is l: (images, modules), one column per module of a layer.
"""

from __future__ import annotations

import torch
from torch import Tensor

SURE = 1e-10
"""The error that a module in training is given where a batch is an outlier to all frozen modules;
also the smallest error whose logarithm is taken."""


def log_likelihood(errors: Tensor, temperature: float) -> Tensor:
    """Return log softmax_m(−log l_m(x) / temperature), for each image."""
    return torch.log_softmax(-errors.clamp_min(SURE).log() / temperature, dim=1)


def log_prior(errors: Tensor, temperature: float) -> Tensor:
    """Return log softmax_m(−log batch-mean l_m / temperature), for the batch."""
    return torch.log_softmax(-errors.mean(0).clamp_min(SURE).log() / temperature, dim=0)


def log_weights(errors: Tensor, temperature: float, prior_temperature: float) -> Tensor:
    """Return log w, where w is likelihood times prior, normalised for each image."""
    product = log_likelihood(errors, temperature) + log_prior(errors, prior_temperature)
    return torch.log_softmax(product, dim=1)


def trusting(errors: Tensor, new: int) -> Tensor:
    """Return the errors with ``SURE`` for the last ``new`` modules, which are in training, so that
    weights trust them with a batch that is new to every frozen module."""
    known = errors[:, : errors.shape[1] - new]
    return torch.cat([known, torch.full_like(errors[:, known.shape[1] :], SURE)], dim=1)


def structural_loss(errors: Tensor, log_w: Tensor) -> Tensor:
    """Return S: the errors averaged over the given modules, by their renormalised weights, and over
    the batch."""
    return (torch.softmax(log_w, dim=1) * errors).sum(1).mean()
