"""A module: its functional part computes, its structural part shows how well it knows an input."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from bell_bench_algorithms.lmc.options import FRESH_STATISTICS, MEAN
from bell_bench_algorithms.lmc.outliers import Window
from bell_bench_algorithms.lmc.shapes import LayerShape

MOMENTUM = 0.1


class Filters(nn.Module):
    """The weights of a convolution, or of a transposed one, drawn from a generator alone: torch's
    own layers draw from global state when they are made."""

    def __init__(self, shape: tuple[int, int], kernel: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(*shape, kernel, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))

    @torch.no_grad()
    def draw(self, generator: torch.Generator) -> None:
        """Draw weights as torch does by default: uniform within ± 1/√(second dimension x kernel
        area)."""
        bound = self.weight[0].numel() ** -0.5
        for parameter in (self.weight, self.bias):
            drawn = torch.rand(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_((2.0 * drawn - 1.0) * bound)


class Functional(nn.Module):
    """Convolution, batch normalisation, ReLU and pooling; or a plain convolution and ReLU."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.shape = shape
        self.conv = Filters((shape.width, shape.channels), shape.kernel, shape.width)
        self.norm = nn.BatchNorm2d(shape.width, momentum=MOMENTUM) if shape.pool else None

    def forward(self, x: Tensor) -> Tensor:
        """Apply ReLU after pooling, where it is cheaper; the result is the same."""
        stride, padding = self.shape.stride, self.shape.padding
        maps = functional.conv2d(x, self.conv.weight, self.conv.bias, stride, padding)
        if self.norm is not None:
            maps = functional.max_pool2d(self.norm(maps), self.shape.pool)
        return maps.relu_()


class Structural(nn.Module):
    """The decoder, from a functional part's output back to its input."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.shape = shape
        self.widen = Filters((shape.width, shape.width), shape.up[0], shape.width)
        self.norm = nn.BatchNorm2d(shape.width, momentum=MOMENTUM)
        self.fit = Filters((shape.width, shape.channels), shape.last_kernel, shape.channels)

    def forward(self, maps: Tensor) -> Tensor:
        """Pixels of CTrL are in [0, 1], hence the sigmoid; BELL's are standardised."""
        _, stride, padding = self.shape.up
        wide = functional.conv_transpose2d(
            maps, self.widen.weight, self.widen.bias, stride, padding
        )
        decoded = functional.conv_transpose2d(
            self.norm(wide).relu_(), self.fit.weight, self.fit.bias
        )
        return decoded.sigmoid_() if self.shape.pool else decoded


class LmcModule(nn.Module):
    """One of a layer's modules. It is trained until it is ``learnt``; then nothing changes it."""

    def __init__(self, shape: LayerShape, name: str, window: Window) -> None:
        super().__init__()
        self.name, self.shape, self.window = name, shape, window
        self.functional, self.structural = Functional(shape), Structural(shape)
        self.learnt = False

    def draw(self, generator: torch.Generator) -> None:
        """Draw random weights."""
        for part in self.modules():
            if isinstance(part, Filters):
                part.draw(generator)

    def errors(self, maps: Tensor, x: Tensor) -> Tensor:
        """Return l: per image, the mean squared error of its input as decoded from its output."""
        return (self.structural(maps) - x.detach()).square().flatten(1).mean(1)

    def freeze(self) -> None:
        """Keep both parts, the statistics of batch normalisation and the window as they are now."""
        self.learnt = True
        self.eval()
        for parameter in self.parameters():
            parameter.requires_grad_(False)
            parameter.grad = None


def begun(
    modules: Sequence[LmcModule], likeliest: int, init: str, name: str, size: int
) -> LmcModule:
    """Return a module to add to a layer, whose first weights come from the layer's modules."""
    first = modules[0]
    new = LmcModule(first.shape, name, Window(size)).to(next(first.parameters()).device)
    states = [module.state_dict() for module in modules]
    if init == MEAN:
        new.load_state_dict(
            {key: torch.stack([state[key] for state in states]).mean(0, dtype=value.dtype)
             if value.is_floating_point() else value for key, value in states[-1].items()}
        )  # fmt: skip
    else:
        new.load_state_dict(copy.deepcopy(states[likeliest]))
    if init == FRESH_STATISTICS:
        for part in new.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.reset_running_stats()
    return new
