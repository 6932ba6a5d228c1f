"""The algorithm: learns one problem at a time, predicts for any it has learnt."""

import torch
from torch import Tensor

from bell_bench import Inputs, KeepingAlgorithm, Problem


class MyIdea(KeepingAlgorithm):
    """Keeps every training point, its images randomly projected; the nearest points answer.

    What is kept is saved, loaded and accounted for.
    """

    stable = True  # learning a problem never changes what earlier ones predict

    def learn(self, problem: Problem) -> None:
        labels = torch.from_numpy(problem.train.labels)
        self.keep(f"points {problem.index}", self.features(problem.train))
        self.keep(f"answers {problem.index}", torch.eye(problem.classes)[labels])

    def predict(self, index: int, inputs: Inputs) -> Tensor:
        points, answers = self.kept[f"points {index}"], self.kept[f"answers {index}"]
        k = min(self.options["k"], len(points))
        parts = self.features(inputs).split(256)  # to bound memory
        nearest = [torch.cdist(part, points).topk(k, largest=False).indices for part in parts]
        return answers[torch.cat(nearest)].mean(dim=1)

    def features(self, inputs: Inputs) -> Tensor:
        """Return one row per input: its images' projections, side by side."""
        images = torch.from_numpy(inputs.pixels()).flatten(1)
        random = self.context.generator("projection")  # the same for every problem
        projected = images @ torch.randn(images.shape[1], 32, generator=random)
        rows = torch.from_numpy(inputs.index).long()
        return projected[rows].flatten(1).to(self.context.device)
