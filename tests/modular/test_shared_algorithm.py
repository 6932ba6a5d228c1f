"""Algorithms of one network: training, grids, charges, what is kept, and resuming."""

from __future__ import annotations

import dataclasses
from itertools import islice

import numpy as np
import pytest
import torch
from made_problems import coloured
from making import PAIRS, SINGLE, make_problem

from bell_bench import SharedAlgorithm
from bell_bench.harness.context import JobContext
from bell_bench.modular import flops
from bell_bench.modular.augmentation import augment
from bell_bench.modular.batches import batches
from bell_bench.modular.evaluator import derive_seed
from bell_bench.modular.learner import class_loss
from bell_bench.modular.module import SharedNetwork
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.shared_algorithm import measure, training_batches
from bell_bench.records import Job

SETTINGS = TrainingSettings(
    learning_rate=0.01, weight_decay=0.1, batch=16, max_updates=7, validate_every=3, patience=100
)


def make(folder, kind=SharedAlgorithm, settings=SETTINGS, **options):
    job = Job(algorithm="a", provider="", suite="bell", suite_version="1", sequence="S_few",
              realisation=0, realisation_seed=0, seed=5, scale="quick", data="glyphs",
              protocol="paper")  # fmt: skip
    context = JobContext(
        job, None, settings, work=folder / "work", evaluations=folder / "evaluations",
        tell=lambda *a, **k: None,
    )  # fmt: skip
    return kind(context, **options)


class Watching(SharedAlgorithm):
    """Counts batches, and keeps the weights that each problem left."""

    def __init__(self, context, **options):
        super().__init__(context, **options)
        self.batches, self.trainings = [], []

    def loss(self, problem, inputs, labels):
        self.batches.append((inputs, labels))
        return super().loss(problem, inputs, labels)

    def remember(self, problem, training):
        self.trainings.append(training)
        for name, weight in self.network.shared.named_parameters():
            self.keep(name, weight)


def test_training_is_a_plain_loop_of_the_suites_optimiser(tmp_path):
    algorithm = make(tmp_path, settings=dataclasses.replace(SETTINGS, select="loss"))
    problem = make_problem(0)
    algorithm.add(0, problem.architecture)
    plain = SharedNetwork()
    plain.add(0, problem.architecture, 0)
    plain.load_state_dict(algorithm.network.state_dict())
    algorithm.learn(problem)

    descent = torch.optim.AdamW(plain.parameters(), lr=0.01, weight_decay=0.1)
    stream = training_batches(problem, 16, 5, torch.device("cpu"), augmented=False)
    best = (measure(plain, 0, problem.validation)[0], plain.state_dict())
    for update in range(1, 8):
        inputs, labels, items = next(stream)
        assert torch.equal(labels, torch.from_numpy(problem.train.labels)[items])
        pixels = problem.train.pixels()[problem.train.index[items.numpy()]]
        assert np.array_equal(inputs.numpy(), pixels)
        descent.zero_grad()
        class_loss(plain(inputs, 0), labels).backward()
        descent.step()
        if update in (3, 6, 7):
            now = measure(plain, 0, problem.validation)[0]
            if now < best[0]:
                best = now, {k: v.clone() for k, v in plain.state_dict().items()}
    for name, weight in algorithm.network.state_dict().items():
        torch.testing.assert_close(weight, best[1][name])


def test_what_is_charged_noted_kept_and_accounted_for(tmp_path):
    algorithm = make(tmp_path, Watching)
    for index, architecture in enumerate((PAIRS, SINGLE, PAIRS)):
        algorithm.learn(make_problem(index, architecture))
    context, network = algorithm.context, algorithm.network
    assert len(algorithm.batches) == 21, "every update asks for the loss once, the counted one too"
    assert context.charges.updates == 21
    problems = [make_problem(0), make_problem(1, SINGLE), make_problem(2)]
    prices = [
        flops.count(lambda p=p: class_loss(
            network(torch.zeros(16, p.train.arity, 6), p.index), torch.zeros(16, dtype=torch.long)
        ).backward()).flops
        for p in problems
    ]  # fmt: skip
    assert context.charges.train_flops == 7 * sum(prices)
    assert context.charges.inference_flops > 0
    assert [note["training"]["shared_modules"] for note in context.notes] == [3, 3, 3]
    shared = dict(network.shared.named_parameters())
    assert algorithm.kept.keys() == shared.keys()
    assert all(torch.equal(algorithm.kept[name], weight) for name, weight in shared.items())
    assert context.stored["kept"] == [sum(weight.nbytes for weight in shared.values()), 0]
    parameters = sum(weight.numel() for weight in network.parameters())
    assert context.stored["network"] == [4 * parameters, parameters]


def test_what_is_kept_is_a_copy(tmp_path):
    algorithm = make(tmp_path)
    weight = torch.nn.Parameter(torch.zeros(3))
    algorithm.keep("weight", weight)
    weight.data += 1
    assert algorithm.kept["weight"].tolist() == [0, 0, 0]
    assert not algorithm.kept["weight"].requires_grad
    algorithm.keep("weight", torch.ones(5)[:2])
    assert algorithm.context.stored["kept"] == [8, 0], "in place of what had the name"


def test_a_resumed_job_ends_with_the_same_bits(tmp_path):
    problems = [make_problem(0), make_problem(1, SINGLE), make_problem(2)]
    whole = make(tmp_path, Watching)
    for problem in problems:
        whole.learn(problem)
    first = make(tmp_path, Watching)
    for problem in problems[:2]:
        first.learn(problem)
    (tmp_path / "saved").mkdir()
    first.save(tmp_path / "saved")
    assert {file.suffix for file in (tmp_path / "saved").iterdir()} == {".safetensors", ".json"}
    second = make(tmp_path, Watching)
    second.load(tmp_path / "saved")
    second.learn(problems[2])
    for problem in problems:
        inputs = problem.validation.inputs
        ours, theirs = (each.predict(problem.index, inputs) for each in (whole, second))
        assert torch.equal(ours, theirs)
        assert ours.shape == (len(inputs), problem.classes)
    assert all(torch.equal(second.kept[name], tensor) for name, tensor in whole.kept.items())


@pytest.mark.parametrize("select", ["loss", "accuracy"])
def test_the_best_of_a_grid_is_remembered_and_all_is_charged(tmp_path, select):
    rates = ((1e-9, 0.0), (0.05, 0.0))
    problem = make_problem(0)
    problem = dataclasses.replace(problem, validation=problem.train, fingerprint="")
    algorithm = make(
        tmp_path, Watching, dataclasses.replace(SETTINGS, grid=rates, select=select, max_updates=30)
    )
    algorithm.learn(problem)
    (training,) = algorithm.trainings
    assert training.progress.settings.learning_rate == 0.05
    assert training.progress.loss == pytest.approx(
        measure(algorithm.network, 0, problem.validation)[0]
    )
    assert algorithm.context.charges.updates == 60
    assert algorithm.context.charges.train_flops == 60 * training.update_flops


def test_images_are_augmented_as_those_of_paths_are():
    problem, cpu = coloured(points=20, images=10), torch.device("cpu")
    split, seed = problem.train, derive_seed("batches", problem.fingerprint, 3)
    labels = torch.from_numpy(split.labels)
    of_paths = batches(split, labels, 8, seed=seed, by_image=True, shared=False, augmented=True)
    ours = training_batches(problem, 8, 3, cpu, augmented=True)
    for batch, (inputs, classes, _) in islice(zip(of_paths, ours, strict=True), 4):
        assert torch.equal(classes, batch.labels)
        images = torch.from_numpy(split.pixels())[batch.items]
        assert torch.equal(inputs[:, 0], augment(images, batch.draws))
