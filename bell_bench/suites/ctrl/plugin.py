"""CTrL registers as any suite would, in two set-ups."""

from __future__ import annotations

from collections.abc import Iterable

from bell_bench.hookspecs import hookimpl
from bell_bench.specs import SuiteSpec


@hookimpl
def bell_bench_suites() -> Iterable[SuiteSpec]:
    yield SuiteSpec(
        "ctrl",
        load="bell_bench.suites.ctrl.suite:CTRL",
        summary="streams of colour-image tasks; five modules of convolution and batch norm",
    )
    yield SuiteSpec(
        "ctrl-resnet",
        load="bell_bench.suites.ctrl.suite:CTRL_RESNET",
        summary="the same streams in CTrL's own set-up: a small ResNet, a grid, augmentation",
    )
