"""The suite's validation and early stopping as a plugin for any strategy."""

from __future__ import annotations

import math
import warnings
from typing import Any

from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.shared_algorithm import measure, snapshot
from bell_bench.modular.training import DivergenceWarning, TrainingProgress, schedule
from bell_bench.problem import Problem
from bell_bench_avalanche.library import SupervisedPlugin


class EarlyStopping(SupervisedPlugin):
    """Validates, stops and selects weights as the suite's settings require, for the problem being
    learnt.

    Put it first among a strategy's plugins, so that the best weights are restored before any other
    plugin uses what was learnt.
    """

    def __init__(self, settings: TrainingSettings) -> None:
        super().__init__()
        self.settings = settings
        self.problem: Problem
        self.progress: TrainingProgress

    def on(self, problem: Problem) -> EarlyStopping:
        """Use this problem's validation set from now on."""
        self.problem = problem
        return self

    def off(self) -> None:
        """Drop the problem, so that nothing of it is kept for the next one."""
        del self.problem, self.progress

    def before_training_exp(self, strategy: Any, **kwargs: Any) -> None:
        problem, settings = self.problem, self.settings
        epoch = math.ceil(len(problem.train) / settings.batch)
        self.every, self.limit = schedule(settings, epoch)
        self.progress = TrainingProgress(
            snapshot=lambda: {0: snapshot(strategy.model)},
            measure=lambda: measure(strategy.model.network, problem.index, problem.validation),
            settings=settings,
            patience=max(settings.patience, settings.patience_epochs * epoch),
        )
        if not self.progress.validate():
            strategy.stop_training()

    def after_training_iteration(self, strategy: Any, **kwargs: Any) -> None:
        progress = self.progress
        progress.updates += 1
        last = progress.updates == self.limit
        if last or progress.updates % self.every == 0:
            go_on = progress.validate(float(strategy.loss.detach()))
            if last or not go_on:
                strategy.stop_training()

    def after_training_exp(self, strategy: Any, **kwargs: Any) -> None:
        if self.progress.diverged:
            message = f"training on «{self.problem.name}» diverged; its best weights are used"
            warnings.warn(message, DivergenceWarning, stacklevel=2)
        strategy.model.load_state_dict(self.progress.weights[0])
