"""Gaussians of what modules receive, projected and with a ridge; only moments are needed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

SMALLEST = 1e-12
"""A ridge is a share of the mean variance, but at least of this: inputs may all be equal."""


@dataclass(frozen=True)
class Moments:
    """The number of some points, their mean and their sample covariance, which give a Gaussian."""

    count: float
    mean: Tensor
    covariance: Tensor

    @staticmethod
    def of(points: Tensor, counts: Tensor) -> Moments:
        """Return the moments of points that occur ``counts`` times each, in double precision."""
        x, weights = points.double(), counts.double()
        total = weights.sum()
        mean = weights @ x / total
        centred = x - mean
        scatter = (centred * weights[:, None]).T @ centred
        return Moments(float(total), mean, scatter / max(float(total) - 1.0, 1.0))

    @property
    def scatter(self) -> Tensor:
        """The sum of outer products of deviations from the mean."""
        return self.covariance * max(self.count - 1.0, 1.0)

    def tensor(self) -> Tensor:
        """Return mean and covariance as the rows of one tensor, to be stored."""
        return torch.vstack([self.mean, self.covariance]).cpu()


def projection(width: int, k: int, generator: torch.Generator) -> Tensor | None:
    """Return a Gaussian random projection from ``width`` numbers to ``k``; None if width ≤ k."""
    if width <= k:
        return None
    return torch.randn(width, k, generator=generator) / math.sqrt(k)


def log_likelihoods(stored: Tensor, seen: Moments, ridge: float) -> Tensor:
    """Return the summed log density of the points seen under each stored Gaussian (m, 1 + d, d).

    A Gaussian's log density is quadratic, so its sum over points follows from their moments: the
    cost per Gaussian does not depend on how many points there are.
    """
    means, covariances = stored[:, 0], loaded(stored[:, 1:], ridge)
    size = means.shape[1]
    factor: Tensor = torch.linalg.cholesky(covariances)
    log_det = 2.0 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    shift = (seen.mean - means).unsqueeze(-1)
    about = seen.scatter + seen.count * shift @ shift.mT
    distance = torch.cholesky_solve(about, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
    return -0.5 * (seen.count * (size * math.log(2.0 * math.pi) + log_det) + distance)


def loaded(covariances: Tensor, ridge: float) -> Tensor:
    """Return covariances (m, d, d) with ``ridge`` times their mean variance added to each variance.

    Two joined softmaxes have rank 14 of 16 and ten points at most rank 9; relative to the mean
    variance, a ridge means the same for pixels and for softmaxes.
    """
    scale = covariances.diagonal(dim1=-2, dim2=-1).mean(-1).clamp(min=SMALLEST)
    identity = torch.eye(covariances.shape[-1], dtype=covariances.dtype, device=covariances.device)
    return covariances + ridge * scale[:, None, None] * identity
