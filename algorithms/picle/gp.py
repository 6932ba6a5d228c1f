"""An exact Gaussian process over a finite set of functions, from matrices of how alike they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gpytorch
import numpy as np
import torch
from gpytorch.constraints import Interval
from gpytorch.distributions import MultivariateNormal
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

SIGMA = (0.05, 1.0)
"""Bounds of a kernel's deviation σ, in accuracy. Two similar accuracies must not make the process
certain that all others are similar, too."""
GAMMA = (0.1, 1.0)
"""Bounds of the length scale γ, as shares of the median distance: functions at a usual distance
always say something about each other, but never everything."""
NOISE = (0.001, 0.03)
"""Bounds of the noise's deviation, in accuracy."""
ITERATIONS = 40


class Looked(gpytorch.kernels.Kernel):
    """A kernel that looks its values up in a matrix; its points are row numbers."""

    def __init__(self, matrix: Tensor, **settings: Any) -> None:
        super().__init__(**settings)
        self.register_buffer("matrix", matrix)

    def look(self, x1: Tensor, x2: Tensor, diag: bool) -> Tensor:
        i, j = x1.squeeze(-1).long(), x2.squeeze(-1).long()
        matrix: Tensor = self.matrix
        return matrix[i, j] if diag else matrix[i[..., :, None], j[..., None, :]]

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:
        return self.look(x1, x2, diag)


class SquaredExponential(Looked):
    """exp(−d² / 2γ²) of a matrix of distances d."""

    has_lengthscale = True

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:
        scale = self.lengthscale.squeeze(-1) if diag else self.lengthscale
        return torch.exp(-0.5 * (self.look(x1, x2, diag) / scale) ** 2)


def make_kernel(terms: Mapping[str, Tensor]) -> gpytorch.kernels.Kernel:
    """Return a sum of kernels: σ² exp(−d²/2γ²) for ``l2``, σ₀² + σ₁² sim for a similarity.

    A similarity is divided by the mean of its diagonal, so that σ₁ is a deviation in accuracy.
    """
    parts = []
    for kind, matrix in terms.items():
        if kind == "l2":
            parts.append(_scaled(_squared_exponential(matrix)))
        else:
            own = matrix.diagonal().mean().clamp(min=1e-12)
            parts += [_scaled(Looked(torch.ones_like(matrix))), _scaled(Looked(matrix / own))]
    return parts[0] if len(parts) == 1 else gpytorch.kernels.AdditiveKernel(*parts)


def _squared_exponential(distances: Tensor) -> SquaredExponential:
    apart = distances[torch.ones_like(distances).triu(1).bool()]
    usual = float(apart.median()) if len(apart) else 1.0
    usual = usual or 1.0
    bounds = Interval(GAMMA[0] * usual, GAMMA[1] * usual)
    kernel = SquaredExponential(distances, lengthscale_constraint=bounds)
    kernel.lengthscale = 0.5 * usual
    return kernel


def _scaled(kernel: gpytorch.kernels.Kernel) -> gpytorch.kernels.ScaleKernel:
    scaled = gpytorch.kernels.ScaleKernel(
        kernel, outputscale_constraint=Interval(SIGMA[0] ** 2, SIGMA[1] ** 2)
    )
    scaled.outputscale = (2.0 * SIGMA[0]) ** 2
    return scaled


@dataclass(frozen=True)
class Prediction:
    """The accuracies that functions are expected to reach, without noise."""

    mean: Tensor
    deviation: Tensor


class GaussianProcess(gpytorch.models.ExactGP):
    """A zero-mean process on accuracies minus the mean of those observed.

    The paper's process has mean zero. Taken literally, an untried suffix would be expected at an
    accuracy of 0 and the search would hardly ever stop; so zero is the mean observed so far.
    """

    def __init__(
        self, kernel: gpytorch.kernels.Kernel, observed: Sequence[int], accuracies: Sequence[float]
    ) -> None:
        values = torch.tensor(accuracies, dtype=torch.float64)
        likelihood = gpytorch.likelihoods.GaussianLikelihood(
            noise_constraint=Interval(NOISE[0] ** 2, NOISE[1] ** 2)
        )
        super().__init__(_numbers(observed), values - values.mean(), likelihood)
        self.centre = float(values.mean())
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = kernel
        self.double()
        self.likelihood.noise = (0.01) ** 2

    def forward(self, x: Tensor) -> MultivariateNormal:
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def fit(self) -> None:
        """Maximise the marginal likelihood within the bounds, always from the same start.

        SciPy's optimiser is used because torch's would import its compiler: a second and 85 MB.
        """
        self.train()
        target = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self)
        parameters = list(self.parameters())

        def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            vector_to_parameters(torch.tensor(values), parameters)
            value: Tensor = -target(self(self.train_inputs[0]), self.train_targets)
            gradients = torch.autograd.grad(value, parameters)
            return value.item(), parameters_to_vector(gradients).numpy()

        start = parameters_to_vector(parameters).detach().numpy()
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
        vector_to_parameters(torch.tensor(found.x), parameters)

    @torch.no_grad()
    def predict(self, asked: Sequence[int]) -> Prediction:
        self.eval()
        found = self(_numbers(asked))
        return Prediction(found.mean + self.centre, found.variance.clamp(min=0.0).sqrt())


def _numbers(points: Sequence[int]) -> Tensor:
    return torch.tensor(points, dtype=torch.float64).unsqueeze(-1)


def upper_confidence(prediction: Prediction, beta: float) -> Tensor:
    return prediction.mean + beta * prediction.deviation


def expected_improvement(prediction: Prediction, best: float) -> Tensor:
    """Return E[max(f − best, 0)]."""
    gain, deviation = prediction.mean - best, prediction.deviation
    z = gain / deviation.clamp(min=1e-12)
    density = torch.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    expected: Tensor = gain * torch.special.ndtr(z) + deviation * density
    return expected.clamp(min=0.0)
