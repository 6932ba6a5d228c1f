"""Experience replay in thirty lines, in a file of its own:

bell-bench evaluate --algo ./examples/replay.py:Replay --sequence S_pl
"""

from typing import ClassVar

import torch
from torch import Tensor

from bell_bench import Option, Problem, SharedAlgorithm, Training


class Replay(SharedAlgorithm):
    """Some examples of every former problem take part in every update."""

    options: ClassVar = {"examples": Option(int, 16, "Examples kept of a problem.", minimum=1)}

    def loss(self, problem: Problem, inputs: Tensor, labels: Tensor) -> Tensor:
        value = super().loss(problem, inputs, labels)
        for index in range(problem.index):
            kept = self.kept[f"inputs {index}"], self.kept[f"labels {index}"]
            value = value + self.suite_loss(index, *kept)
        return value

    def remember(self, problem: Problem, training: Training) -> None:
        random = self.context.generator("examples", problem.index)
        chosen = torch.randperm(len(problem.train), generator=random)[: self.options["examples"]]
        few = problem.train.subset(chosen.numpy())
        images = torch.from_numpy(few.pixels()).to(self.context.device)
        self.keep(f"inputs {problem.index}", images[torch.from_numpy(few.index).long()])
        self.keep(f"labels {problem.index}", torch.from_numpy(few.labels).to(self.context.device))
