"""How well Gaussians of N images tell the nine domains apart, for several ways of fitting them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from bell_bench.data import Domain, load_domain, missing
from bell_bench.data.sources import available
from bell_bench.errors import UsageError, unknown
from bell_bench.harness.progress import Tell
from bell_bench.plugins import registry
from bell_bench.suites.bell.domains import DOMAINS
from bell_bench_algorithms.picle.gaussian import Moments, projection

SIZES = (50, 100, 500, 1_000, 5_000, 10_000, 20_000, 30_000, 44_000)
POINTS = 100
"""How many fresh images of a domain the Gaussians are ranked by."""
RIDGE = 1e-8
"""Added to every variance."""
METHODS: Mapping[str, int | None] = {"rp_10": 10, "rp_20": 20, "rp_40": 40, "diag_loading": None}
"""How many dimensions the pixels are projected to; None: they are not projected."""
EXACT = 256
"""The number of byte images whose second moments stay whole numbers below 2²⁴, and so exact in
single precision."""


def run(*, scale: str, data: str, seeds: int, tell: Tell) -> pd.DataFrame:
    """Return one row per method, N and seed: the average position of the true domain, 0 at best."""
    domains = load(scale, data)
    available = min(len(domain.train_images) for domain in domains)
    sizes = sorted({min(size, available) for size in SIZES})
    rows = []
    for seed in range(seeds):
        for method, size, position in rank(domains, sizes, seed):
            rows.append((method, size, seed, position))
            tell(f"seed {seed}, N = {size}", len(rows), seeds * len(sizes) * len(METHODS))
    return pd.DataFrame(rows, columns=["method", "N", "seed", "average_position"])


def load(scale: str, data: str) -> list[Domain]:
    """Return BELL's nine domains; if images are missing, raise UsageError with what to do."""
    suite = registry().suite("bell")
    for kind, asked, known in (
        ("scale", scale, suite.scales),
        ("data source", data, suite.sources),
    ):
        if asked not in known:
            raise unknown(kind, asked, known)
    names = list(available(DOMAINS, data))
    if lacking := missing(names, data):
        lines = [f"images are missing for --data {data}:"]
        lines += [f"  {domain}: {why}" for domain, why in lacking.items()]
        lines += ["see `bell-bench data list`, or use the embedded images: --data glyphs"]
        raise UsageError("\n".join(lines))
    return [load_domain(name, data, suite.scales[scale].domain) for name in names]


def rank(
    domains: Sequence[Domain], sizes: Sequence[int], seed: int
) -> Iterator[tuple[str, int, float]]:
    """Yield method, N and average position. N rises, and the images of a smaller N are among those
    of a larger N.

    A projected Gaussian follows from the Gaussian of the pixels, so all methods see the same
    images.
    """
    generator = torch.Generator().manual_seed(seed)
    samples = [Sample(domain, generator) for domain in domains]
    width = samples[0].fresh.shape[1]
    projections = {
        method: None if k is None else projection(width, k, generator)
        for method, k in METHODS.items()
    }
    fresh = torch.stack([sample.fresh for sample in samples])
    for size in sizes:
        moments = [sample.moments(size) for sample in samples]
        means = torch.stack([found.mean for found in moments])
        covariances = torch.stack([found.covariance for found in moments])
        for method, matrix in projections.items():
            if matrix is None:
                likelihoods = log_likelihoods(means, covariances, fresh)
            else:
                p = matrix.double()
                likelihoods = log_likelihoods(means @ p, p.T @ covariances @ p, fresh @ p)
            yield method, size, float(positions(likelihoods).double().mean())


def log_likelihoods(means: Tensor, covariances: Tensor, points: Tensor) -> Tensor:
    """Return a square matrix: the summed log-likelihood of each domain's points under each
    Gaussian. ``points`` has the shape (domains, points, d)."""
    identity = torch.eye(covariances.shape[-1], dtype=covariances.dtype)
    factors = torch.linalg.cholesky(covariances + RIDGE * identity)
    gaussians = MultivariateNormal(means, scale_tril=factors, validate_args=False)
    found: Tensor = gaussians.log_prob(points.unsqueeze(2)).sum(1)
    return found


def positions(likelihoods: Tensor) -> Tensor:
    """Return how many Gaussians give each domain's points (rows) a higher likelihood than its own
    Gaussian does."""
    return (likelihoods > likelihoods.diagonal().unsqueeze(1)).sum(1)


class Sample:
    """A domain's images in one random order, standardised as PICLE's modules receive them."""

    def __init__(self, domain: Domain, generator: torch.Generator) -> None:
        self.domain = domain
        self._order = torch.randperm(len(domain.train_images), generator=generator)
        drawn = torch.randperm(len(domain.validation_images), generator=generator)[:POINTS]
        images = torch.from_numpy(domain.validation_images[drawn.numpy()])
        self.fresh = (images.flatten(1).double() - domain.mean) / domain.std
        self._count = 0
        self._sum: Tensor | float = 0.0
        self._squares: Tensor | float = 0.0

    def moments(self, size: int) -> Moments:
        """Return the moments of the first ``size`` training images; ``size`` may only grow."""
        for rows in self._order[self._count : size].split(EXACT):
            x = torch.from_numpy(self.domain.train_images[rows.numpy()]).flatten(1).float()
            self._sum = x.sum(0).double() + self._sum
            self._squares = (x.T @ x).double() + self._squares
        self._count = size
        total = torch.as_tensor(self._sum)
        mean = total / size
        scatter = self._squares - torch.outer(total, mean)
        mean, covariance = mean - self.domain.mean, scatter / max(size - 1, 1)
        return Moments(size, mean / self.domain.std, covariance / self.domain.std**2)
