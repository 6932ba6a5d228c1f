"""A problem's network while it is used or trained: layers of modules, and the head."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import torch
from torch import Tensor

from bell_bench_algorithms.lmc.head import Head
from bell_bench_algorithms.lmc.layer import Composed, Layer
from bell_bench_algorithms.lmc.module import LmcModule, begun
from bell_bench_algorithms.lmc.options import Hyperparameters


@dataclass
class Pass:
    """A batch's way through the layers, as far as it has come."""

    output: Tensor
    start: int = 0
    """The first layer it went through."""
    layers: list[Composed] = field(default_factory=list)
    due: tuple[int, int, list[float]] | None = None
    """If the pass ended at a layer that must grow: the layer, its likeliest module, the scores."""


class Network:
    """The layers that all problems share, and the head of one problem."""

    def __init__(self, layers: list[Layer], head: Head, values: Hyperparameters) -> None:
        self.layers, self.head, self.values = layers, head, values
        self.projecting: int | None = None
        """The layer whose new module is being projected."""

    @property
    def frozen(self) -> int:
        """How many layers, counted from the first, have no module in training."""
        new = [number for number, layer in enumerate(self.layers) if layer.new is not None]
        return min(new, default=len(self.layers))

    def above(self, number: int) -> bool:
        """Whether a layer is above the one whose new module is being projected."""
        return self.projecting is not None and number > self.projecting

    def set_mode(self, training: bool) -> None:
        """Set whether modules in training normalise by batch; frozen parts never do.

        In projection the functional parts above the projected module are frozen.
        """
        for number, layer in enumerate(self.layers):
            if (new := layer.new) is not None:
                new.structural.train(training)
                new.functional.train(training and not self.above(number))
                new.functional.requires_grad_(not self.above(number))

    def train(self, x: Tensor, known: Tensor | None, start: int, *, growing: bool) -> Pass:
        """Run a training batch. If ``growing``, it ends at the first layer that must grow: all
        its modules are learnt, and the batch is an outlier to each of them."""
        passed = Pass(x, start)
        for number, layer in enumerate(self.layers[start:], start):
            examined = layer.examine(passed.output, known)
            novel = examined.novel(self.values.threshold)
            if growing and novel and layer.new is None:
                passed.due = number, layer.likeliest(examined, self.values), examined.scores
                return passed
            composed = layer.compose(
                passed.output,
                examined,
                self.values,
                trust=novel,
                project=self.projecting is not None,
                above=self.above(number),
            )
            passed.layers.append(composed)
            passed.output, known = composed.output, None
        return passed

    @torch.no_grad()
    def evaluate(
        self, x: Tensor, known: Tensor | None = None, start: int = 0, end: int | None = None
    ) -> Pass:
        """Run a validation or test batch through some layers; none of them grows."""
        passed = Pass(x, start)
        for layer in self.layers[start:end]:
            examined = layer.examine(passed.output, known)
            composed = layer.compose(passed.output, examined, self.values)
            passed.layers.append(composed)
            passed.output, known = composed.output, None
        return passed

    def grow(self, number: int, likeliest: int, name: str, window: int) -> None:
        """Add a module to a layer."""
        modules = self.layers[number].modules
        modules.append(begun(modules, likeliest, self.values.init, name, window))

    def record(self, passed: Pass) -> None:
        """Add the batch's errors to the windows of the modules in training."""
        for layer, composed in zip(self.layers[passed.start :], passed.layers, strict=True):
            if layer.new is not None:
                layer.new.window.add(float(composed.means[-1]))

    def freeze(self) -> None:
        """Freeze all modules once the problem is learnt."""
        for layer in self.layers:
            if layer.new is not None:
                layer.new.freeze()

    def copy(self) -> tuple[list[LmcModule | None], Head]:
        """Return a copy of all that is in training."""
        return [copy.deepcopy(layer.new) for layer in self.layers], self.head.copy()

    def restore(self, new: list[LmcModule | None], head: Head) -> None:
        """Go back to what ``copy`` returned; modules that were added since are dropped."""
        for layer, module in zip(self.layers, new, strict=True):
            layer.modules = layer.learnt + ([] if module is None else [module])
        self.head = head
