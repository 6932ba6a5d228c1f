"""What O-EWC and ER share: one network for all problems, trained by Avalanche's strategy template.

Problems share a module wherever the types match; each has a head of its own.
"""

from __future__ import annotations

import copy
import itertools
import math
import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor
from torch.nn import functional

from bell_bench.algorithm import Algorithm, Context
from bell_bench.avalanche.data import Task, make_dataset, make_experience
from bell_bench.avalanche.library import SupervisedTemplate
from bell_bench.avalanche.model import MultiHead
from bell_bench.avalanche.stopping import EarlyStopping, measure
from bell_bench.files import read_json, write_json, write_whole
from bell_bench.modular.architecture import Architecture, ModuleSpec
from bell_bench.modular.augmentation import augment, draw
from bell_bench.modular.batches import batches
from bell_bench.modular.evaluator import derive_seed
from bell_bench.modular.module import optimiser
from bell_bench.modular.network import pixels, rows, scores
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import Progress, deterministic
from bell_bench.problem import Inputs, Problem, Split


class Epochs:
    """A problem's batches [inputs, classes, item numbers, task labels]; one epoch per iteration.

    The same order as a path's training has, for the same seed, and the same crops if images are
    ``augmented``.
    """

    def __init__(
        self,
        problem: Problem,
        task: Task,
        size: int,
        seed: int,
        device: torch.device,
        augmented: bool = False,
    ) -> None:
        split = problem.train
        size = min(size, len(split))
        self.crops = np.random.RandomState([seed % 2**32, 1]) if augmented else None
        self.length = math.ceil(len(split) / size)
        self.task = task
        self.images = pixels(split, device, torch.float32)
        self.index = rows(split, device)
        labels = torch.from_numpy(split.labels).to(device)
        self.stream = batches(split, labels, size, seed=seed, by_image=False)

    def __iter__(self) -> Iterator[list[Tensor]]:
        for batch in itertools.islice(self.stream, self.length):
            inputs = self.images[self.index[batch.items]]
            if self.crops is not None:
                draws = torch.from_numpy(draw(self.crops, len(inputs))).to(inputs.device)
                inputs = augment(inputs.flatten(0, 1), draws).view_as(inputs)
            tasks = torch.full_like(batch.items, self.task.label)
            yield [inputs, batch.labels + self.task.first, batch.items, tasks]


class OnEpochs(SupervisedTemplate):
    """Avalanche's strategy template, fed by whole batches instead of item by item."""

    def __init__(self, *, epochs: Epochs, **settings: Any) -> None:
        super().__init__(**settings)
        self.epochs = epochs

    def make_train_dataloader(self, **kwargs: Any) -> None:
        self.dataloader = self.epochs


class SharedParameters(Algorithm):
    """Trains one network on one problem after another; a subclass keeps it from forgetting."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.model = MultiHead(context.seed).to(context.device)

    def plugin(self, problem: Problem, task: Task) -> Any:
        """What keeps the network from forgetting while it learns ``problem``."""
        raise NotImplementedError

    def keep(self, problem: Problem, task: Task, plugin: Any) -> None:
        """Store what later problems will need of this one, now that it is learnt."""
        raise NotImplementedError

    def batch(self, size: int) -> int:
        """How many inputs an update has, of which ``size`` are the problem's."""
        return size

    def tensors(self) -> dict[str, Tensor]:
        """What is kept between problems besides the network."""
        return {}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take back what ``tensors`` gave."""

    @property
    def tasks(self) -> list[Task]:
        return list(self.model.tasks.values())

    def learn(self, problem: Problem) -> None:
        context, settings = self.context, self.context.settings
        task = Task.next(problem, self.tasks)
        self.model.add(task)
        self.model.to(context.device)
        before = copy.deepcopy(self.model.state_dict())
        trials = []
        for rate, decay in settings.grid or ((settings.learning_rate, settings.weight_decay),):
            self.model.load_state_dict(before)
            chosen = replace(settings, learning_rate=rate, weight_decay=decay)
            trials.append(self.train(problem, task, chosen))
        progress, plugin = min(trials, key=lambda trial: _rank(trial[0], settings))
        self.model.load_state_dict(progress.weights[0])
        updates = sum(each.updates for each, _ in trials)
        self.charge(problem, updates, sum(each.validations for each, _ in trials))
        context.note(
            training={
                "updates": updates,
                "validation_accuracy": progress.accuracy,
                "diverged": progress.diverged,
                "shared_modules": len(self.model.network.shared),
            }
        )
        self.keep(problem, task, plugin)
        self.account()

    def train(
        self, problem: Problem, task: Task, settings: TrainingSettings
    ) -> tuple[Progress, Any]:
        """Train by Avalanche's template; how it went, and the plugin that took part."""
        context = self.context
        stopping = EarlyStopping(settings).on(problem)
        plugin = self.plugin(problem, task)
        seed = derive_seed("batches", problem.fingerprint, context.seed)
        strategy = OnEpochs(
            epochs=Epochs(problem, task, settings.batch, seed, context.device, settings.augment),
            model=self.model,
            optimizer=optimiser(self.model.parameters(), settings),
            train_epochs=settings.max_epochs,
            device=context.device,
            plugins=[stopping, plugin],
            evaluator=None,
        )
        experience = make_experience(make_dataset(problem.train, task), task)
        with deterministic(context.device):
            strategy.train(experience, eval_streams=[])
        return stopping.progress, plugin

    def charge(self, problem: Problem, updates: int, validations: int) -> None:
        """Charge a training's updates and validations, counted on throw-away weights."""
        context, model = self.context, copy.deepcopy(self.model)
        size = self.batch(min(context.settings.batch, len(problem.train)))
        step = context.count(lambda: gradient_step(model, problem, size))
        look = context.count(lambda: measure(model.network, problem.index, problem.validation))
        context.charge(
            updates=updates, train_flops=updates * step, inference_flops=validations * look
        )

    def account(self) -> None:
        """Say what is kept: the network, and what the subclass adds."""
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        self.context.account("network", size_of(self.model.state_dict().values()), parameters)
        self.context.account("kept for later", size_of(self.tensors().values()))

    def predict(self, index: int, inputs: Inputs) -> Tensor:
        network = self.model.network
        architecture = network.architectures[index]
        return scores(architecture, network.weights(index), inputs, device=self.context.device)

    def save(self, folder: pathlib.Path) -> None:
        network = {f"network/{k}": v for k, v in self.model.state_dict().items()}
        kept = {f"kept/{k}": v for k, v in self.tensors().items()}
        whole = {k: v.detach().cpu().contiguous() for k, v in (network | kept).items()}
        write_whole(folder / "shared.safetensors", safetensors.torch.save(whole))
        write_json(folder / "tasks.json", [_task_to_json(task) for task in self.tasks])

    def load(self, folder: pathlib.Path) -> None:
        for task in map(_task_from_json, read_json(folder / "tasks.json")):
            self.model.add(task)
        whole = safetensors.torch.load((folder / "shared.safetensors").read_bytes())
        self.model.load_state_dict(_under("network/", whole))
        self.model.to(self.context.device)
        self.restore(_under("kept/", whole))


def _rank(progress: Progress, settings: TrainingSettings) -> tuple[bool, float]:
    """The better of two trainings has the lower rank."""
    by_loss = settings.select == "loss"
    return progress.diverged, progress.loss if by_loss else -progress.accuracy


def gradient_step(model: MultiHead, problem: Problem, size: int) -> None:
    """The gradients of ``size`` inputs, as often as the problem has to repeat its own for that."""
    chosen = torch.arange(size) % len(problem.train)
    inputs, classes = examples(problem.train, model.tasks[problem.index], chosen)
    device = next(model.parameters()).device
    output = model(inputs.to(device), problem.index)
    functional.cross_entropy(output, classes.to(device)).backward()


def examples(split: Split, task: Task, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Some inputs (n, arity, …) of a split, standardised, and their classes in the sequence."""
    images, index = pixels(split, torch.device("cpu"), torch.float32), torch.from_numpy(split.index)
    classes = torch.from_numpy(split.labels)[chosen] + task.first
    return images[index[chosen].long()], classes


def size_of(tensors: Sequence[Tensor] | Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _task_to_json(task: Task) -> dict[str, Any]:
    modules = [spec.to_json() for spec in task.architecture.modules]
    return {**vars(task), "architecture": modules}


def _task_from_json(data: dict[str, Any]) -> Task:
    specs = tuple(ModuleSpec.from_json(spec) for spec in data["architecture"])
    return Task(**{**data, "architecture": Architecture(specs)})
