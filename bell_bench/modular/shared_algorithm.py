"""The base class of algorithms that train one shared network by the suite's settings."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bell_bench.algorithm import Context
from bell_bench.files import read_json, read_tensors, write_json, write_tensors
from bell_bench.keeping import KeepingAlgorithm
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.augmentation import crop_and_mirror
from bell_bench.modular.batches import batches
from bell_bench.modular.evaluator import derive_seed
from bell_bench.modular.learner import class_loss
from bell_bench.modular.module import SharedNetwork, optimiser
from bell_bench.modular.network import logits, scores
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import TrainingProgress, best_first, deterministic, fit
from bell_bench.problem import Inputs, Problem, Split

_WEIGHTS, _ARCHITECTURES = "network.safetensors", "architectures.json"


@dataclass(frozen=True)
class Training:
    """One training of the network on a problem."""

    progress: TrainingProgress
    """Its course: updates, and the best validation's loss, accuracy and weights."""
    update_flops: float
    """The FLOPs of one update; all updates of a problem cost the same."""


class SharedAlgorithm(KeepingAlgorithm):
    """One network, trained further on every problem. A subclass keeps it from forgetting: in
    ``loss``, with what ``remember`` kept of earlier problems.

    Problems share a module wherever the types match, and each has its own head. Batches, optimiser,
    early stopping and grids are the suite's; predicting, saving, accounting and charging are
    inherited.
    """

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.network = SharedNetwork()
        """The network: it maps a batch of inputs and a problem's index to that problem's logits."""

    def loss(self, problem: Problem, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of inputs (n, arity, …) that an update lowers; at first the suite's."""
        return self.suite_loss(problem.index, inputs, labels)

    def suite_loss(self, index: int, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return the suite's loss of a learnt problem: cross-entropy, of one logit if binary."""
        return class_loss(self.network(inputs, index), labels)

    def remember(self, problem: Problem, training: Training) -> None:
        """Keep what later problems need of this one, after it is learnt; by default, nothing."""

    def add(self, index: int, architecture: Architecture) -> None:
        """Add the modules that a problem needs and that no earlier problem did."""
        seed = derive_seed("shared weights", self.context.seed, index)
        self.network.add(index, architecture, seed)

    def learn(self, problem: Problem) -> None:
        settings = self.context.settings
        self.add(problem.index, problem.architecture)
        self.network.to(self.context.device)
        before = snapshot(self.network)
        trainings = []
        for rate, decay in settings.grid or ((settings.learning_rate, settings.weight_decay),):
            self.network.load_state_dict(before)
            chosen = replace(settings, learning_rate=rate, weight_decay=decay, grid=())
            trainings.append(self.train(problem, chosen))
        best = min(trainings, key=lambda each: best_first(each.progress, settings.select))
        self.network.load_state_dict(best.progress.weights[0])
        self._charge(problem, trainings, best.progress)
        self.remember(problem, best)
        kept = list(self.network.state_dict().values())
        parameters = sum(parameter.numel() for parameter in self.network.parameters())
        self.context.account("network", sum(tensor.nbytes for tensor in kept), parameters)

    def suite_batches(
        self, problem: Problem, settings: TrainingSettings
    ) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield endless batches: inputs (n, arity, …), labels, and the inputs' numbers.

        Their order, and their crops if ``settings`` say ``augment``, are those that the training of
        a path has.
        """
        size = min(settings.batch, len(problem.train))
        context = self.context
        return training_batches(problem, size, context.seed, context.device, settings.augment)

    def suite_optimiser(self, settings: TrainingSettings) -> torch.optim.Optimizer:
        """Return the suite's optimiser for all weights of the network."""
        return optimiser(self.network.parameters(), settings)

    def train(self, problem: Problem, settings: TrainingSettings) -> Training:
        """Lower ``loss`` until the settings or the validation end the training."""
        epoch = math.ceil(len(problem.train) / min(settings.batch, len(problem.train)))
        progress = TrainingProgress(
            snapshot=lambda: {0: snapshot(self.network)},
            measure=lambda: measure(self.network, problem.index, problem.validation),
            settings=settings,
            patience=max(settings.patience, settings.patience_epochs * epoch),
        )
        descent = self.suite_optimiser(settings)
        prices: list[float] = []

        def updates() -> Iterator[Tensor]:
            for inputs, labels, _ in self.suite_batches(problem, settings):
                descent.zero_grad()
                if prices:
                    value = self._gradient(problem, inputs, labels)
                else:
                    value, price = self._counted_gradient(problem, inputs, labels)
                    prices.append(price)
                descent.step()
                yield value

        self.network.train()
        with deterministic(self.context.device):
            if progress.validate():
                fit(updates(), epoch, settings, progress)
        return Training(progress, prices[0] if prices else 0.0)

    def _gradient(self, problem: Problem, inputs: Tensor, labels: Tensor) -> Tensor:
        value = self.loss(problem, inputs, labels)
        value.backward()  # type: ignore[no-untyped-call]
        return value.detach()

    def _counted_gradient(
        self, problem: Problem, inputs: Tensor, labels: Tensor
    ) -> tuple[Tensor, float]:
        values: list[Tensor] = []
        price = self.context.count(lambda: values.append(self._gradient(problem, inputs, labels)))
        return values[0], price

    def _charge(self, problem: Problem, trainings: list[Training], best: TrainingProgress) -> None:
        context, network = self.context, self.network
        validations = sum(each.progress.validations for each in trainings)
        look = context.count(lambda: measure(network, problem.index, problem.validation))
        updates = sum(each.progress.updates for each in trainings)
        context.charge(
            updates=updates,
            train_flops=sum(each.progress.updates * each.update_flops for each in trainings),
            inference_flops=validations * look,
        )
        context.note(
            training={
                "updates": updates,
                "validation_accuracy": best.accuracy,
                "diverged": best.diverged,
                "shared_modules": len(network.shared),
            }
        )

    def predict(self, index: int, inputs: Inputs) -> Tensor:
        architecture, weights = self.network.architectures[index], self.network.weights(index)
        return scores(architecture, weights, inputs, device=self.context.device)

    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        write_tensors(folder / _WEIGHTS, self.network.state_dict())
        known = self.network.architectures.items()
        write_json(folder / _ARCHITECTURES, [[index, found.to_json()] for index, found in known])

    def load(self, folder: pathlib.Path) -> None:
        super().load(folder)
        for index, modules in read_json(folder / _ARCHITECTURES):
            self.add(index, Architecture.from_json(modules))
        self.network.load_state_dict(read_tensors(folder / _WEIGHTS))
        self.network.to(self.context.device)


def snapshot(module: torch.nn.Module) -> dict[str, Tensor]:
    """Return a copy of a module's weights."""
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}


def measure(network: SharedNetwork, index: int, split: Split) -> tuple[float, float]:
    """Return loss and accuracy of a problem's network; each unique image is computed once."""
    device = next(network.parameters()).device
    found = logits(network.architectures[index], network.weights(index), split, device=device)
    labels = torch.from_numpy(split.labels).to(device)
    answers = (found[:, 0] > 0).long() if found.shape[1] == 1 else found.argmax(1)
    return float(class_loss(found, labels)), int((answers == labels).sum()) / len(split)


def training_batches(
    problem: Problem, size: int, seed: int, device: torch.device, augmented: bool
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield endless batches of inputs (n, arity, …), labels and item numbers. The order, and the
    crops if ``augmented``, are those of a path's training with the same seed."""
    split = problem.train
    order = derive_seed("batches", problem.fingerprint, seed)
    crops = np.random.RandomState([order % 2**32, 1])
    images, index = split.tensors(device)
    labels = torch.from_numpy(split.labels).to(device)
    for batch in batches(split, labels, size, seed=order, by_image=False):
        inputs = images[index[batch.items]]
        yield crop_and_mirror(inputs, crops) if augmented else inputs, batch.labels, batch.items
