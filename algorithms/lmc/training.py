"""Learning one problem: updates, growth and projection, validation, and the best checkpoint."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from bell_bench import Context, Problem, Split, TrainingSettings, class_loss
from bell_bench_algorithms.lmc.flop_meter import Meter
from bell_bench_algorithms.lmc.head import Head
from bell_bench_algorithms.lmc.module import LmcModule
from bell_bench_algorithms.lmc.network import Network, Pass
from bell_bench_algorithms.lmc.parameter_groups import gradients, parts
from bell_bench_algorithms.lmc.schedule import Schedule
from bell_bench_algorithms.lmc.splits import Fixed, ImageBatch, ImageSplit


@dataclass(frozen=True)
class Checkpoint:
    """All that is trained, and how good it was on the validation set."""

    accuracy: float
    updates: int
    new: list[LmcModule | None]
    head: Head


@dataclass(frozen=True)
class Addition:
    """A module that was added while a problem was learnt."""

    layer: int
    updates: int
    """How many updates came before it."""
    likeliest: str
    """The layer's most likely module at that time."""
    scores: list[float]
    """Each module's outlier score of the batch."""


@dataclass
class Trainer:
    """Trains a network on a problem; ``settings`` have LMC's own weight decay."""

    network: Network
    problem: Problem
    settings: TrainingSettings
    context: Context
    additions: list[Addition] = field(default_factory=list)
    diverged: bool = False

    def __post_init__(self) -> None:
        problem, network, device = self.problem, self.network, self.context.device
        self.training, self.inference = Meter(self.context), Meter(self.context)
        size = self.settings.batch
        self.train = self.training.count(lambda: ImageSplit(problem.train, network, size, device))
        self.validation = self.inference.count(
            lambda: ImageSplit(problem.validation, network, size, device)
        )
        self.fixed = self.validation.fixed()
        self.whole: Fixed | None = None
        """The training set, once it turns out to be one batch for which no layer grows."""
        self.schedule = Schedule.of(len(problem.train), self.settings, network.values)
        self.best = Checkpoint(-math.inf, 0, *network.copy())
        self.restart()

    def run(self) -> Checkpoint:
        """Train to the end, then go back to the best validation outside of projections."""
        schedule, seed = self.schedule, self.context.generator("lmc batches", self.problem.index)
        number = int(torch.randint(2**31, (), generator=seed))
        labels = self.targets(self.problem.train)
        stream = self.train.batches(labels, number)
        while not schedule.over and not self.diverged:
            self.update(next(stream))
            if schedule.validating and not self.diverged:
                self.validate()
        self.network.projecting = None
        self.network.restore(self.best.new, self.best.head)
        return self.best

    def update(self, batch: ImageBatch) -> None:
        """Do one update; if a layer must grow, it grows first."""
        schedule, network = self.schedule, self.network
        x, known, start = self.enter(batch)
        kind = (self.kind(start), len(x))
        growing = not schedule.projecting
        passed = self.training.run(
            ("pass", kind), lambda: network.train(x, known, start, growing=growing)
        )
        if passed.due is not None:
            self.add(*passed.due)
            kind = (self.kind(start), len(x))
            passed = self.training.run(
                ("pass", kind), lambda: network.train(x, known, start, growing=False)
            )
        elif growing and schedule.epoch == 1 and self.whole is None:
            self.whole = Fixed(x, known)
        members, labels = batch.members, batch.labels
        self.diverged = not self.training.run(
            ("step", kind), lambda: self.step(passed, members, labels)
        )
        schedule.updates += 1
        if network.projecting is not None and not schedule.projecting:
            network.projecting = None
            network.set_mode(True)

    def enter(self, batch: ImageBatch) -> tuple[Tensor, Tensor | None, int]:
        """Return where the batch's pass begins: its input, the errors known there, the layer."""
        if self.whole is None:
            return (*self.train.take(batch.items), 0)
        whole, network = self.whole, self.network
        if whole.ready(network):
            return whole.enter(network)
        return self.training.count(lambda: whole.enter(network))

    def step(self, passed: Pass, members: Tensor, labels: Tensor) -> bool:
        """Update all that is trained; return whether the loss is a finite number."""
        network = self.network
        loss = class_loss(network.head.logits(passed.output, members), labels)
        found = gradients(network, passed, loss, network.values.regularisation)
        finite = math.isfinite(float(loss.detach()))
        if finite:
            for part in self.parts:
                part.step(found)
            network.record(passed)
        return finite

    def add(self, layer: int, likeliest: int, scores: list[float]) -> None:
        """Let a layer grow: begin projection, restart the optimiser."""
        network, schedule = self.network, self.schedule
        origin = network.layers[layer].modules[likeliest].name
        self.additions.append(Addition(layer, schedule.updates, origin, scores))
        network.grow(layer, likeliest, module_name(self.problem, layer), schedule.window)
        schedule.added()
        network.projecting = layer if schedule.projecting else None
        self.restart()

    def restart(self) -> None:
        """Give all that is trained a fresh optimiser."""
        self.parts = parts(self.network, self.settings)
        self.network.set_mode(True)

    def validate(self) -> None:
        """Measure, and keep what is trained if nothing was better so far.

        The latest of equals is kept, because decoders still improve when accuracy no longer does.
        """
        kind = self.kind(self.network.frozen), [fixed.ready(self.network) for fixed in self.fixed]
        loss, accuracy = self.inference.run(str(kind), self.measure)
        self.schedule.validated(loss)
        if math.isfinite(loss) and accuracy >= self.best.accuracy:
            self.best = Checkpoint(accuracy, self.schedule.updates, *self.network.copy())

    @torch.no_grad()
    def measure(self) -> tuple[float, float]:
        """Return loss and accuracy on the validation set."""
        network, split = self.network, self.problem.validation
        network.set_mode(False)
        outputs = [network.evaluate(*fixed.enter(network)).output for fixed in self.fixed]
        network.set_mode(True)
        logits = network.head.logits(torch.cat(outputs), self.validation.members)
        labels = self.targets(split)
        answers = logits.squeeze(1) > 0 if logits.shape[1] == 1 else logits.argmax(1)
        return float(class_loss(logits, labels)), int((answers == labels).sum()) / len(split)

    def targets(self, split: Split) -> Tensor:
        """Return labels as the loss takes them: floats for a single output, else int64."""
        last = self.problem.architecture.modules[-1].target
        kind = torch.float32 if math.prod(last.shape) == 1 else torch.int64
        return torch.from_numpy(split.labels).to(self.context.device, kind)

    def kind(self, start: int) -> tuple[Any, ...]:
        """Return what determines the cost of a pass from layer ``start`` on, besides the batch."""
        layers = [(len(layer.modules), layer.new is not None) for layer in self.network.layers]
        return (start, self.network.projecting, *layers)


def module_name(problem: Problem, layer: int) -> str:
    """Return a name for people: ``3.2`` was added to the second layer on the third problem."""
    return f"{problem.index + 1}.{layer + 1}"
