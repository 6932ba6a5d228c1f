"""LMC: a module shows how well it knows an input by how well it reconstructs it."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import Any

import torch

from bell_bench import Algorithm, Context, Inputs, Problem, class_scores, deterministic
from bell_bench_algorithms.lmc.head import Head
from bell_bench_algorithms.lmc.layer import Layer
from bell_bench_algorithms.lmc.module import LmcModule
from bell_bench_algorithms.lmc.network import Network
from bell_bench_algorithms.lmc.options import hyperparameters
from bell_bench_algorithms.lmc.outliers import Window
from bell_bench_algorithms.lmc.schedule import Schedule
from bell_bench_algorithms.lmc.shapes import convolutional, shape
from bell_bench_algorithms.lmc.splits import maps
from bell_bench_algorithms.lmc.state import LmcState
from bell_bench_algorithms.lmc.training import Checkpoint, Trainer, module_name
from bell_bench_algorithms.picle.note_numbers import told


class LMC(Algorithm):
    """Local module composition, task-aware: the head is chosen by problem, modules by input."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.values = hyperparameters(context.sequence, options)
        self.settings = replace(context.settings, weight_decay=self.values.weight_decay)
        self.state = LmcState()

    def learn(self, problem: Problem) -> None:
        network = self.begin(problem)
        with deterministic(self.context.device):
            trainer = Trainer(network, problem, self.settings, self.context)
            best = trainer.run()
            network.freeze()
            usage = trainer.inference.count(lambda: self.usage(network, problem.validation))
        self.state.heads[problem.index] = network.head.copy(trained=False)
        self.context.charge(
            updates=trainer.schedule.updates,
            train_flops=trainer.training.flops,
            inference_flops=trainer.inference.flops,
        )
        for what, (size, parameters) in self.state.sizes().items():
            self.context.account(what, size, parameters)
        self.tell(trainer, best, usage)

    def begin(self, problem: Problem) -> Network:
        """Return the problem's network: shared layers, new layers of one module, a new head."""
        context, layers = self.context, []
        window = Schedule.of(len(problem.train), self.settings, self.values).window
        for number, spec in enumerate(convolutional(problem.architecture)):
            shape(spec)
            layer = self.state.layers.setdefault(spec, Layer(spec))
            if not layer.modules:
                first = LmcModule(layer.shape, module_name(problem, number), Window(window))
                first.draw(context.generator("lmc module", problem.index, number))
                layer.modules.append(first.to(context.device))
            layers.append(layer)
        drawn = context.generator("lmc head", problem.index)
        head = Head.drawn(problem.architecture, len(layers), drawn).copy(context.device)
        return Network(layers, head, self.values)

    def predict(self, index: int, inputs: Inputs) -> torch.Tensor:
        head = self.state.heads[index]
        network = self.network(head)
        with deterministic(self.context.device), torch.no_grad():
            images, members = maps(inputs, self.context.device)
            parts = images.split(self.settings.batch)
            outputs = torch.cat([network.evaluate(part).output for part in parts])
            return class_scores(head.logits(outputs, members))

    def network(self, head: Head) -> Network:
        """Return a learnt problem's network, with all modules that its layers have now."""
        layers = [self.state.layers[spec] for spec in head.architecture.modules[: head.start]]
        return Network(layers, head, self.values)

    def usage(self, network: Network, inputs: Inputs) -> list[list[float]]:
        """Return each module's mean weight, layer by layer."""
        images, _ = maps(inputs, self.context.device)
        parts = images.split(self.settings.batch)
        weights = [[each.weights.cpu() for each in network.evaluate(part).layers] for part in parts]
        shares = torch.tensor([len(part) / len(inputs.images) for part in parts])
        return [(torch.stack(layer, 1) @ shares).tolist() for layer in zip(*weights, strict=True)]

    def tell(self, trainer: Trainer, best: Checkpoint, usage: list[list[float]]) -> None:
        """Note which modules were added, where and why, and how much each module is used."""
        layers = trainer.network.layers
        kept = {module.name for layer in layers for module in layer.modules}
        names = [module_name(trainer.problem, item.layer) for item in trainer.additions]
        self.context.note(
            lmc={
                "validation_accuracy": max(best.accuracy, 0.0),
                "best_after": best.updates,
                "diverged": trainer.diverged,
                "added": [
                    {
                        "module": name,
                        "after": item.updates,
                        "most_likely": item.likeliest,
                        "outlier_scores": [told(score) for score in item.scores],
                        "kept": name in kept,
                    }
                    for name, item in zip(names, trainer.additions, strict=True)
                ],
                "weights": [
                    {
                        module.name: told(weight)
                        for module, weight in zip(layer.modules, shares, strict=True)
                    }
                    for layer, shares in zip(layers, usage, strict=True)
                ],
            }
        )

    def save(self, folder: pathlib.Path) -> None:
        self.state.save(folder)

    def load(self, folder: pathlib.Path) -> None:
        self.state = LmcState.load(folder, self.context.device)
