"""O-EWC: online elastic weight consolidation (Schwarz et al., 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bell_bench.algorithm import Context
from bell_bench.avalanche.data import Task
from bell_bench.avalanche.library import SupervisedPlugin
from bell_bench.avalanche.model import MultiHead
from bell_bench.problem import Problem
from bell_bench_algorithms.shared import SharedParameters, examples


def fisher(
    model: MultiHead, task: int, inputs: Tensor, classes: Tensor, parameters: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """The diagonal Fisher information: the mean square of each sample's own gradient of its
    log-likelihood, with the labels that the samples have."""
    found = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
    model.eval()
    for x, y in zip(inputs.split(1), classes.split(1), strict=True):
        loss = functional.cross_entropy(model(x, task), y)
        gradients = torch.autograd.grad(loss, list(parameters.values()))
        for square, gradient in zip(found.values(), gradients, strict=True):
            square.addcmul_(gradient, gradient, value=1 / len(inputs))
    return found


class Consolidation(SupervisedPlugin):
    """Draws the shared weights to where they were when the last problem had been learnt, each as
    strongly as the Fisher information says that it mattered."""

    def __init__(self, strength: float, decay: float) -> None:
        super().__init__()
        self.strength, self.decay = strength, decay
        self.fisher: dict[str, Tensor] = {}
        self.anchor: dict[str, Tensor] = {}

    def penalty(self, parameters: Mapping[str, Tensor]) -> Tensor | float:
        """λ/2 · Σ F (θ − θ*)² over the parameters that have been consolidated before."""
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
        """F ← γF + F', which for γ = 0 replaces it; the weights become the new anchor."""
        for name, parameter in parameters.items():
            before = self.fisher.get(name)
            self.fisher[name] = found[name] if before is None else self.decay * before + found[name]
            self.anchor[name] = parameter.detach().clone()


def body(model: MultiHead, task: int) -> dict[str, nn.Parameter]:
    """The shared parameters that a task's network has: all but its head's."""
    network = model.network
    return {
        f"{key}.{name}": parameter
        for key in network.body(task)
        for name, parameter in network.shared[key].named_parameters()
    }


class OEWC(SharedParameters):
    """One penalty for all former problems, renewed after each."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        replaced = getattr(context.protocol, "ewc_fisher", "accumulate") == "replace"
        decay = 0.0 if replaced else options["gamma"]
        self.consolidation = Consolidation(options["strength"], decay)

    def plugin(self, problem: Problem, task: Task) -> Consolidation:
        return self.consolidation

    def keep(self, problem: Problem, task: Task, plugin: Consolidation) -> None:
        generator = self.context.generator("fisher", problem.index)
        chosen = torch.randperm(len(problem.train), generator=generator)[: self.options["samples"]]
        inputs, classes = (
            part.to(self.context.device) for part in examples(problem.train, task, chosen)
        )
        parameters = body(self.model, task.label)
        plugin.consolidate(parameters, fisher(self.model, task.label, inputs, classes, parameters))
        one = inputs[:1], classes[:1], parameters
        sample = self.context.count(lambda: fisher(self.model, task.label, *one))
        self.context.charge(train_flops=len(inputs) * sample)

    def tensors(self) -> dict[str, Tensor]:
        consolidation = self.consolidation
        return {
            f"{what}/{name}": tensor
            for what, kept in (("fisher", consolidation.fisher), ("anchor", consolidation.anchor))
            for name, tensor in kept.items()
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            what, _, parameter = name.partition("/")
            getattr(self.consolidation, what)[parameter] = tensor.to(self.context.device)
