"""A layer: its modules, and their composition for a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor

from bell_bench import ModuleSpec
from bell_bench_algorithms.lmc.module import LmcModule
from bell_bench_algorithms.lmc.options import Hyperparameters
from bell_bench_algorithms.lmc.shapes import LayerShape, shape
from bell_bench_algorithms.lmc.weights import log_weights, structural_loss, trusting

NEGLIGIBLE = 1e-4
"""A module whose weight is below this for every image of a batch is left out of the sum."""


@dataclass(frozen=True)
class Examined:
    """What a layer's frozen modules give for a batch, computed without gradients."""

    maps: list[Tensor | None]
    """Each module's output; None where only its errors are known."""
    errors: Tensor
    """(images, frozen modules)."""
    scores: list[float]
    """Each module's outlier score of the batch."""

    def novel(self, threshold: float) -> bool:
        """Whether there are frozen modules and the batch is an outlier to all of them."""
        return bool(self.scores) and min(self.scores) >= threshold


@dataclass(frozen=True)
class Composed:
    """A layer's output for a batch, and how it was composed."""

    output: Tensor
    weights: Tensor
    """(modules,): each module's mean weight over the batch."""
    means: Tensor
    """(modules,): batch means of the errors."""
    loss: Tensor | None
    """The structural loss S; None if it trains nothing."""


@dataclass
class Layer:
    """The modules for one place in the network; only the last may still be in training."""

    spec: ModuleSpec
    modules: list[LmcModule] = field(default_factory=list)

    @property
    def shape(self) -> LayerShape:
        return shape(self.spec)

    @property
    def new(self) -> LmcModule | None:
        """The module that is being trained, if there is one."""
        last = self.modules[-1] if self.modules else None
        return None if last is None or last.learnt else last

    @property
    def learnt(self) -> list[LmcModule]:
        return [module for module in self.modules if module.learnt]

    @torch.no_grad()
    def examine(self, x: Tensor, known: Tensor | None = None) -> Examined:
        """Run the frozen modules; ``known`` has their errors if these were computed before."""
        frozen = self.learnt
        maps: list[Tensor | None] = [None] * len(frozen)
        if known is None:
            found = [module.functional(x) for module in frozen]
            columns = [module.errors(y, x) for module, y in zip(frozen, found, strict=True)]
            known = torch.stack(columns, 1) if columns else x.new_empty(len(x), 0)
            maps = list(found)
        means = known.mean(0).tolist()
        scores = [module.window.score(mean) for module, mean in zip(frozen, means, strict=True)]
        return Examined(maps, known, scores)

    def likeliest(self, examined: Examined, values: Hyperparameters) -> int:
        """Return the number of the frozen module with the highest mean weight."""
        return int(self._log_weights(examined.errors, values).exp().mean(0).argmax())

    def compose(
        self,
        x: Tensor,
        examined: Examined,
        values: Hyperparameters,
        *,
        trust: bool = False,
        project: bool = False,
        above: bool = False,
    ) -> Composed:
        """Return the sum of the modules' outputs, each times its weight, and the loss S.

        ``trust``: weights are computed as if the new module knew the batch well. ``project``: S
        covers all modules, with gradients through them; else it covers the new module's decoder
        alone. ``above``: the layer is above the projected module, so gradients go through its new
        module, too.
        """
        new, maps, columns = self.new, list(examined.maps), list(examined.errors.unbind(1))
        if new is not None:
            made = new.functional(x)
            maps.append(made)
            columns.append(new.errors(made if above else made.detach(), x))
        errors = torch.stack(columns, 1)
        seen = errors.detach()
        log_w = self._log_weights(trusting(seen, 1) if trust and new else seen, values)
        weights = log_w.exp()
        passing = x.requires_grad and torch.is_grad_enabled()
        used = [i for i, w in enumerate(weights.amax(0).tolist()) if not w < NEGLIGIBLE]
        for i in used:
            module = self.modules[i]
            if maps[i] is None or (passing and module.learnt):
                maps[i] = module.functional(x)
                if passing and project:
                    columns[i] = module.errors(maps[i], x)
        parts = [weights[:, i, None, None, None] * cast(Tensor, maps[i]) for i in used]
        loss = None
        if project:
            loss = structural_loss(torch.stack(columns, 1), log_w)
        elif new is not None:
            loss = structural_loss(errors[:, -1:], log_w[:, -1:])
        return Composed(
            output=sum(parts[1:], parts[0]),
            weights=weights.mean(0),
            means=seen.mean(0),
            loss=loss,
        )

    def _log_weights(self, errors: Tensor, values: Hyperparameters) -> Tensor:
        return log_weights(errors, values.temperature, values.prior_temperature)
