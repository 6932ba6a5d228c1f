"""Parameters that one optimiser updates together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from bell_bench import Optimiser, TrainingSettings
from bell_bench_algorithms.lmc.network import Network, Pass

Gradients = Mapping[Tensor, Tensor | None]


class ParameterGroup:
    """The functional or structural part of a module, or a head, as one tensor that the optimiser
    updates at once."""

    def __init__(self, parameters: Iterable[Tensor], settings: TrainingSettings) -> None:
        self.parameters = list(parameters)
        flat = torch.cat([parameter.detach().flatten() for parameter in self.parameters])
        self.optimiser = Optimiser(flat, settings)
        sizes = [parameter.numel() for parameter in self.parameters]
        for parameter, place in zip(self.parameters, flat.split(sizes), strict=True):
            parameter.data = place.view_as(parameter)
        self.places = self.optimiser.gradient.split(sizes)

    def step(self, gradients: Gradients) -> None:
        """Update the parameters once, unless they take no gradients now."""
        if not self.parameters[0].requires_grad:
            return
        for parameter, place in zip(self.parameters, self.places, strict=True):
            found = gradients[parameter]
            place.zero_() if found is None else place.view_as(parameter).copy_(found)
        self.optimiser.step()


def parts(network: Network, settings: TrainingSettings) -> list[ParameterGroup]:
    """Return a group, with a fresh optimiser, for each part of the network that is trained."""
    new = [layer.new for layer in network.layers if layer.new is not None]
    groups = [part.parameters() for module in new for part in module.children()]
    return [ParameterGroup(group, settings) for group in (*groups, network.head.parameters())]


def gradients(
    network: Network, passed: Pass, task_loss: Tensor, regularisation: float
) -> dict[Tensor, Tensor | None]:
    """Return the gradient of cross-entropy + regularisation · Σ S by each trained parameter."""
    losses = [composed.loss for composed in passed.layers if composed.loss is not None]
    whole = task_loss + regularisation * sum(losses)
    new = [layer.new.parameters() for layer in network.layers if layer.new is not None]
    trained = [p for group in (*new, network.head.parameters()) for p in group if p.requires_grad]
    found = torch.autograd.grad(whole, trained, allow_unused=True)
    return dict(zip(trained, found, strict=True))
