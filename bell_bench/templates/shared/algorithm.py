"""The network: what do problems share, and how is it trained on?"""

import pathlib
from typing import Any

import safetensors.torch
import torch

from bell_bench import Algorithm, Context, Inputs, Problem
from bell_bench.files import read_json, write_json
from bell_bench.modular.architecture import Architecture, ModuleSpec
from bell_bench.modular.learner import loss
from bell_bench.modular.module import SharedNetwork, optimiser
from bell_bench.modular.network import pixels, rows, scores


class MyIdea(Algorithm):
    """Problems share the modules whose types agree, trained further on each; a head is its own.

    Nothing keeps it from forgetting: that is where your idea comes in.
    """

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.network = SharedNetwork()

    def learn(self, problem: Problem) -> None:
        train, device, settings = problem.train, self.context.device, self.context.settings
        random = self.context.generator("learn", problem.index)
        self.network.add(problem.index, problem.architecture, random.initial_seed())
        self.network.to(device)
        descent = optimiser(self.network.parameters(), settings)
        images, index = pixels(train, device, torch.float32), rows(train, device)
        binary = problem.architecture[-1].target.shape == (1,)
        labels = torch.from_numpy(train.labels).to(device, torch.float32 if binary else torch.int64)

        def step() -> None:
            chosen = torch.randint(len(train), (settings.batch,), generator=random).to(device)
            descent.zero_grad()
            loss(self.network(images[index[chosen]], problem.index), labels[chosen]).backward()
            descent.step()

        updates = min(self.options["updates"], settings.max_updates or self.options["updates"])
        flops = self.context.count(step)  # the first step is counted, the others cost the same
        for _ in range(updates - 1):
            step()
        self.context.charge(updates=updates, train_flops=updates * flops)
        kept = list(self.network.state_dict().values())
        self.context.account("network", sum(w.nbytes for w in kept), sum(w.numel() for w in kept))

    def predict(self, index: int, inputs: Inputs) -> torch.Tensor:
        architecture, weights = self.network.architectures[index], self.network.weights(index)
        return scores(architecture, weights, inputs, device=self.context.device)

    def save(self, folder: pathlib.Path) -> None:
        made = self.network.architectures.items()
        known = {str(i): [module.to_json() for module in found.modules] for i, found in made}
        write_json(folder / "architectures.json", known)
        safetensors.torch.save_file(self.network.state_dict(), folder / "network.safetensors")

    def load(self, folder: pathlib.Path) -> None:
        for index, found in read_json(folder / "architectures.json").items():
            modules = tuple(ModuleSpec.from_json(module) for module in found)
            self.network.add(int(index), Architecture(modules), 0)
        self.network.load_state_dict(safetensors.torch.load_file(folder / "network.safetensors"))
        self.network.to(self.context.device)
