"""Strategies of Avalanche as algorithms: built and trained as Avalanche intends, with the suite's
settings; predictions come from the strategy's own evaluation loop."""

from __future__ import annotations

import pathlib
import random
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bell_bench.algorithm import Algorithm, Context
from bell_bench.errors import Unsupported
from bell_bench.files import read_json, write_json
from bell_bench.import_strings import load_object
from bell_bench.modular.module import optimiser
from bell_bench.modular.shared_algorithm import measure
from bell_bench.problem import Inputs, Problem
from bell_bench_avalanche import checkpoint
from bell_bench_avalanche.catalogue import FAMILY, Strategy
from bell_bench_avalanche.data import Task, make_dataset, make_experience
from bell_bench_avalanche.library import SupervisedPlugin, trigger_plugins
from bell_bench_avalanche.memory import stored_bytes
from bell_bench_avalanche.model import Embedding, MultiHead, TypedModel
from bell_bench_avalanche.stopping import EarlyStopping

_TASKS = "tasks.json"
COUNTED = 4
"""The number of updates per problem whose FLOPs are counted, which takes as long again; they give
the price of every update."""
EVALUATED = 256
"""The number of inputs that a strategy evaluates at once."""


class Updates(SupervisedPlugin):
    """Counts updates, and keeps each update to the modules of its problem.

    A penalty on all weights gives modules that the problem does not have a gradient of zero. An
    optimiser takes it for a real gradient and decays these weights, so it is removed before the
    update. After the update, missing gradients become zero, because some strategies read all of
    them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def before_update(self, strategy: Any, **kwargs: Any) -> None:
        for parameter in strategy.model.network.others(strategy.experience.our_task.label):
            if parameter.grad is not None and not parameter.grad.any():
                parameter.grad = None

    def after_update(self, strategy: Any, **kwargs: Any) -> None:
        self.count += 1
        for parameter in strategy.model.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)


class Answers(SupervisedPlugin):
    """Collects the outputs of a strategy when it evaluates, after all its other plugins."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[Tensor] = []

    def after_eval_iteration(self, strategy: Any, **kwargs: Any) -> None:
        self.batches.append(strategy.mb_output.detach())


class StrategyAlgorithm(Algorithm):
    """A strategy that lives as long as the job, or is restored from one of our checkpoints."""

    def __init__(self, strategy: Strategy, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        if context.settings.augment or context.settings.grid:
            raise Unsupported("Avalanche's strategies run without augmentation and grids")
        self.row = strategy
        self.kind = load_object(strategy.load)
        self.tasks: list[Task] = []
        self.updates = Updates()
        self.stopping = EarlyStopping(context.settings)
        self.strategy: Any = None

    def learn(self, problem: Problem) -> None:
        self.tasks.append(Task.next(problem, self.tasks))
        self.check_room()
        self.seed("learn", problem.index)
        experience = make_experience(make_dataset(problem.train, self.tasks[-1]), self.tasks[-1])
        self.stopping.on(problem)
        if self.strategy is None:
            self.strategy = self.build()
        before = self.updates.count
        price = (
            self.train_online(experience) if self.row.online else self.train(experience, problem)
        )
        updates = self.updates.count - before
        self.context.charge(updates=updates, train_flops=updates * price)
        self.account()

    def save(self, folder: pathlib.Path) -> None:
        try:
            checkpoint.save(folder, self.strategy)
        except checkpoint.Unstorable as error:
            name = f"{FAMILY}:{self.row.name}"
            raise NotImplementedError(f"{name} cannot be saved: {error}") from error
        write_json(folder / _TASKS, [task.to_json() for task in self.tasks])

    def load(self, folder: pathlib.Path) -> None:
        self.tasks = [Task.from_json(task) for task in read_json(folder / _TASKS)]
        self.strategy = self.build()
        if self.row.embeds:
            trigger_plugins(self.strategy, "before_training")  # here, a plugin changes the model
        checkpoint.load(folder, self.strategy, self.tasks)

    def check_room(self) -> None:
        """Raise Unsupported if there are more classes than the option ``n_classes`` allows.
        Strategies that must know the number of classes get it by this option."""
        most, needed = self.options.get("n_classes"), self.tasks[-1].units.stop
        if most is not None and needed > most:
            name = f"{FAMILY}:{self.row.name}"
            raise Unsupported(f"{needed} classes so far: set --option {name}.n_classes higher")

    def build(self) -> Any:
        """Return the strategy, with a model of the tasks so far; later tasks are added as they
        come."""
        settings, device = self.context.settings, self.context.device
        model = self.model(self.tasks[0])
        for task in self.tasks:
            model.add(task)
        model.to(device)
        strategy = self.kind(
            model=model,
            optimizer=optimiser(model.parameters(), settings),
            criterion=torch.nn.CrossEntropyLoss(),
            train_mb_size=settings.batch,
            train_epochs=1 if self.row.online else settings.max_epochs,
            eval_mb_size=EVALUATED,
            device=device,
            plugins=[self.updates] if self.row.online else [self.stopping, self.updates],
            evaluator=None,
            **self.options,
        )
        self.answers = Answers()
        strategy.plugins.append(self.answers)
        return strategy

    def model(self, first: Task) -> TypedModel:
        if self.row.embeds:
            return Embedding(self.context.seed, first, self.options["p_size"])
        return MultiHead(self.context.seed)

    def train(self, experience: Any, problem: Problem) -> float:
        """Train all epochs, with the suite's early stopping and a new state of the optimiser.

        Return the FLOPs of an update. They are counted for the first few updates; the rest run at
        full speed.
        """
        strategy = self.strategy
        prices: list[float] = []
        usual = strategy.training_epoch

        def epoch(**kwargs: Any) -> None:
            if not prices:
                whole, batches = strategy.dataloader, iter(strategy.dataloader)
                strategy.dataloader = first = list(islice(batches, COUNTED))
                prices.append(self.context.count(lambda: usual(**kwargs)) / len(first))
                strategy.dataloader = batches
                usual(**kwargs)
                strategy.dataloader = whole
            else:
                usual(**kwargs)

        strategy.training_epoch = epoch
        try:
            strategy.train(experience, eval_streams=[], reset_optimizer_state=True)
        finally:
            del strategy.training_epoch
        self.charge_validations(problem)
        self.stopping.off()
        strategy.optimizer.state.clear()  # the next problem starts with a new state
        return prices[0] if prices else 0.0

    def charge_validations(self, problem: Problem) -> None:
        network, split = self.strategy.model.network, problem.validation
        price = self.context.count(lambda: measure(network, problem.index, split))
        self.context.charge(inference_flops=self.stopping.progress.validations * price)

    def train_online(self, experience: Any) -> float:
        """Train one pass over the data, with each batch as its own experience; return the FLOPs of
        an update."""
        dataset, size = experience.dataset, self.context.settings.batch
        order = torch.randperm(len(dataset)).tolist()

        def learn(starts: range) -> None:
            for start in starts:
                batch = dataset.subset(order[start : start + size])
                self.strategy.train(make_experience(batch, experience.our_task), eval_streams=[])

        starts = range(0, len(dataset), size)
        price = self.context.count(lambda: learn(starts[:COUNTED])) / len(starts[:COUNTED])
        learn(starts[COUNTED:])
        return price

    def predict(self, index: int, inputs: Inputs) -> Tensor:
        task = self.tasks[index]
        self.seed("predict", index)
        self.strategy.eval(make_experience(make_dataset(inputs, task), task))
        scores = torch.cat(self.answers.batches)[:, task.units].cpu()
        self.answers.batches.clear()
        return scores

    def seed(self, what: str, index: int) -> None:
        """Seed all global generators from the job's seed, because Avalanche draws from all of
        them."""
        generator = self.context.generator(FAMILY, what, index)
        seed = int(torch.randint(2**31, (), generator=generator))
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)

    def account(self) -> None:
        model = self.strategy.model
        parameters = sum(parameter.numel() for parameter in model.parameters())
        own = stored_bytes(model.state_dict())
        self.context.account("model", own, parameters)
        self.context.account("kept by the strategy", stored_bytes(vars(self.strategy)) - own)
