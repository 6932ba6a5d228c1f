"""O-EWC: online elastic weight consolidation (Schwarz et al., 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bell_bench import Context, Problem, TrainingSettings, Unsupported
from bell_bench_algorithms import GAMMA
from bell_bench_avalanche import MultiHead, PluginAlgorithm, PluginTraining, SupervisedPlugin


def fisher(
    model: MultiHead, task: int, inputs: Tensor, classes: Tensor, parameters: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the diagonal Fisher information by parameter: the mean, over samples, of the squared
    gradient of one sample's log-likelihood, with the labels that the samples have."""
    found = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
    model.eval()
    for x, y in zip(inputs.split(1), classes.split(1), strict=True):
        loss = functional.cross_entropy(model(x, task), y)
        gradients = torch.autograd.grad(loss, list(parameters.values()))
        for square, gradient in zip(found.values(), gradients, strict=True):
            square.addcmul_(gradient, gradient, value=1 / len(inputs))
    return found


class Consolidation(SupervisedPlugin):
    """Pulls the shared weights to their values after the last problem, each as strongly as its
    Fisher information says that it mattered."""

    def __init__(
        self,
        strength: float,
        decay: float,
        fisher: dict[str, Tensor] | None = None,
        anchor: dict[str, Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.strength, self.decay = strength, decay
        self.fisher, self.anchor = fisher or {}, anchor or {}

    def penalty(self, parameters: Mapping[str, Tensor]) -> Tensor | float:
        """Return λ/2 · Σ F (θ − θ*)² over the parameters that were consolidated before."""
        known = [name for name in parameters if name in self.fisher]
        if not known:
            return 0.0
        now, anchor, importance = (
            torch.cat([tensors[name].flatten() for name in known])
            for tensors in (parameters, self.anchor, self.fisher)
        )
        return (self.strength / 2) * torch.dot(importance, (now - anchor).square())

    def before_backward(self, strategy: Any, **kwargs: Any) -> None:
        parameters = body(strategy.model, strategy.experience.task_label)
        strategy.loss = strategy.loss + self.penalty(parameters)

    def consolidate(self, parameters: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> None:
        """Set F to γF + F', which replaces F if γ = 0; the weights become the new anchor."""
        for name, parameter in parameters.items():
            before = self.fisher.get(name)
            self.fisher[name] = found[name] if before is None else self.decay * before + found[name]
            self.anchor[name] = parameter.detach().clone()


def body(model: MultiHead, task: int) -> dict[str, nn.Parameter]:
    """Return the shared parameters of a task's network: all but those of its head."""
    network = model.network
    return {
        f"{key}.{name}": parameter
        for key in network.body(task)
        for name, parameter in network.shared[key].named_parameters()
    }


REPLACED = ("authors-code",)
"""The protocols under which a problem's Fisher takes the place of the former ones."""


class OEWC(PluginAlgorithm):
    """Has one penalty for all former problems and updates it after each problem."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        gamma: float = options["gamma"]
        replaced = getattr(context.protocol, "name", "") in REPLACED
        if replaced and gamma not in (0, GAMMA):
            raise Unsupported(
                f"o-ewc.gamma={gamma:g} would change nothing: this protocol replaces the Fisher "
                "after each problem; leave the option out, or take a protocol that accumulates it"
            )
        self.decay = 0.0 if replaced else gamma

    def plugin(self, problem: Problem, settings: TrainingSettings) -> Consolidation:
        fisher, anchor = self.kept_under("fisher/"), self.kept_under("anchor/")
        return Consolidation(self.options["strength"], self.decay, fisher, anchor)

    def remember(self, problem: Problem, training: PluginTraining) -> None:
        context, index, plugin = self.context, problem.index, training.plugin
        generator = context.generator("fisher", index)
        chosen = torch.randperm(len(problem.train), generator=generator)[: self.options["samples"]]
        inputs, classes = (
            part.to(context.device) for part in self.examples(index, problem.train, chosen)
        )
        parameters = body(self.model, index)
        plugin.consolidate(parameters, fisher(self.model, index, inputs, classes, parameters))
        for name in parameters:
            self.keep(f"fisher/{name}", plugin.fisher[name])
            self.keep(f"anchor/{name}", plugin.anchor[name])
        one = inputs[:1], classes[:1], parameters
        sample = context.count(lambda: fisher(self.model, index, *one))
        context.charge(train_flops=len(inputs) * sample)
