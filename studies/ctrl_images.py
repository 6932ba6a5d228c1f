"""Measures how hard the colour datasets are: standalone test accuracy of CTrL's network on each.

    python studies/ctrl_images.py                               # all embedded ones
    python studies/ctrl_images.py --datasets cifar10,dtd --data images

Each task is trained from scratch by a plain PyTorch loop: Adam, learning rate and weight decay
1e-3, batches of 64. The embedded images were calibrated with this measure and no other. How hard
the streams' tasks are at a scale is measured by studies/ctrl_difficulty.py.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from bell_bench import cpu_determinism
from bell_bench.data import Domain, load_domain, sources
from bell_bench.suites.ctrl.domains import DOMAINS
from bell_bench.suites.ctrl.rainbow import rainbow


@dataclass(frozen=True)
class Task:
    """A dataset at a size that CTrL's streams use."""

    dataset: str
    train: int
    """Training images in total, over all classes."""
    classes: int = 10
    target: str = ""
    colour: str = ""


TASKS = (
    Task("cifar10", 400, target="40-50"),
    Task("cifar10", 4000, target="60-70"),
    Task("mnist", 400, target="90-95"),
    Task("fashion_mnist", 400, target="75-80"),
    Task("svhn", 400, target="40-70"),
    Task("dtd", 400, target="30-45"),
    Task("mnist", 50, colour="red", target="60-80"),
    Task("mnist", 4000, colour="blue", target="97+"),
    Task("cifar100", 2250, classes=5),
    Task("svhn", 4000),
    Task("fashion_mnist", 4000),
)


def network(width: int, classes: int) -> nn.Sequential:
    """Return CTrL's five modules: 32 → 17 → 9 → 5 → 3, then linear."""
    layers: list[nn.Module] = []
    for inputs in (3, width, width, width):
        layers += [
            nn.Conv2d(inputs, width, 3, padding=2),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(9 * width, classes))


def pick(
    domain: Domain, split: str, classes: np.ndarray, count: int, colour: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first ``count`` images of each class, as floats from 0 to 1, and labels from 0."""
    images, labels = (getattr(domain, f"{split}_{part}") for part in ("images", "labels"))
    rows = [np.flatnonzero(labels == label)[:count] for label in classes]
    images = np.asarray(images[np.concatenate(rows)])
    if colour:
        images = rainbow(images, colour)
    labels = np.repeat(np.arange(len(classes)), [len(each) for each in rows])
    pixels = torch.from_numpy(images.transpose(0, 3, 1, 2) / np.float32(255))
    return pixels.contiguous(), torch.from_numpy(labels)


def standalone(domain: Domain, task: Task, options: argparse.Namespace, seed: int) -> float:
    """Return the test accuracy in per cent, with the weights that did best on validation images."""
    classes = np.random.RandomState(seed).permutation(domain.classes)[: task.classes]
    each = task.train // len(classes)
    images, labels = pick(domain, "train", classes, each, task.colour)
    held, held_labels = pick(domain, "validation", classes, max(each // 2, 3), task.colour)
    test, test_labels = pick(domain, "test", classes, options.test, task.colour)
    torch.manual_seed(seed)
    net = network(options.width, len(classes))
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-3)
    best, answer = -1.0, 0.0
    for _ in range(max(options.epochs, -(-options.updates * 64 // len(labels)))):
        net.train()
        for batch in torch.randperm(len(labels)).split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
            optimiser.step()
        found = accuracy(net, held, held_labels)
        if found > best:
            best, answer = found, accuracy(net, test, test_labels)
    return answer


def accuracy(net: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    net.eval()
    with torch.inference_mode():
        right = sum(
            int((net(some).argmax(1) == truth).sum())
            for some, truth in zip(images.split(256), labels.split(256), strict=True)
        )
    return 100 * right / len(labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default=",".join(dict.fromkeys(t.dataset for t in TASKS)))
    parser.add_argument("--data", default="glyphs", choices=sources(DOMAINS))
    parser.add_argument(
        "--most", type=int, default=4000, help="only tasks with at most so many images"
    )
    parser.add_argument("--width", type=int, default=16, help="CTrL's is 64")
    parser.add_argument("--epochs", type=int, default=8, help="at least")
    parser.add_argument("--updates", type=int, default=300, help="at least")
    parser.add_argument("--test", type=int, default=100, help="test images per class")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cpu_determinism.hold()
    print("| dataset | training images | test accuracy | aimed at | seconds |")
    print("| --- | --- | --- | --- | --- |")
    for task in TASKS:
        if task.dataset not in options.datasets.split(",") or task.train > options.most:
            continue
        domain, started = load_domain(task.dataset, options.data), time.perf_counter()
        found = [standalone(domain, task, options, seed) for seed in range(options.seeds)]
        name = f"{task.dataset} {task.colour}".strip()
        told = ", ".join(f"{each:.1f}" for each in found)
        seconds = time.perf_counter() - started
        print(f"| {name} | {task.train} | {told} | {task.target} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
