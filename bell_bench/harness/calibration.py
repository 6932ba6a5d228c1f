"""Measure how fast this machine trains: time a few updates of each network."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from bell_bench import cpu_determinism
from bell_bench.errors import BellBenchError
from bell_bench.harness.executor import worker_environment
from bell_bench.harness.progress import Tell
from bell_bench.modular.architecture import Architecture
from bell_bench.modular.settings import TrainingSettings

if TYPE_CHECKING:
    import torch

SECONDS = 0.5
"""How long each network is timed at least, in seconds, after one update to warm up."""


@dataclass(frozen=True)
class Machine:
    """What a training takes on one core: a fixed time per update, and a time per operation."""

    update_seconds: float
    flops_per_second: float
    start_seconds: float
    """How long a job takes before its first problem if its process must import torch itself."""

    def seconds(self, updates: float, flops: float) -> float:
        return updates * self.update_seconds + flops / self.flops_per_second


def calibrate(
    networks: Iterable[tuple[Architecture, TrainingSettings]],
    *,
    device: str,
    threads: int,
    tell: Tell,
) -> Machine:
    """Time updates of whole networks, of half networks and of last layers, and fit both parts."""
    import torch

    cpu_determinism.hold()
    torch.set_num_threads(threads)
    try:
        torch.zeros(1, device=device)
    except Exception as error:  # torch raises different kinds for different devices
        why = str(error).splitlines()[0]
        raise BellBenchError(f"--device {device} cannot be used here: {why}") from error
    parts = [
        (architecture, frozenset(range(kept)), settings)
        for architecture, settings in networks
        for kept in sorted({0, len(architecture) // 2, len(architecture) - 1})
    ]
    rows = []
    for number, part in enumerate(parts, start=1):
        rows.append(_time_update(*part, torch.device(device)))
        tell("timing updates", number, len(parts) + 1)
    fixed, per_flop = _fit(rows)
    start = _time_start(threads)
    tell("timing a job's start", len(parts) + 1, len(parts) + 1)
    return Machine(fixed, 1 / per_flop, start)


def _time_update(
    architecture: Architecture,
    frozen: frozenset[int],
    settings: TrainingSettings,
    device: torch.device,
) -> tuple[float, float]:
    """Return the FLOPs and the seconds of one update on a full batch.

    With one thread, the processor's time is measured, which does not depend on what else is
    running.
    """
    import torch

    from bell_bench.modular.cost import cost, make_step

    alone = device.type == "cpu" and torch.get_num_threads() == 1
    step = make_step(architecture, frozen, settings, settings.batch, device)
    step()
    times: list[float] = []
    clock = time.process_time if alone else time.perf_counter
    while sum(times) < SECONDS:
        start = clock()
        step()
        times.append(clock() - start)
    return cost(architecture, frozen, settings, settings.batch, device).step, median(times)


def _fit(rows: list[tuple[float, float]]) -> tuple[float, float]:
    """Fit seconds = fixed + slope · flops by least relative squares; neither is below zero."""
    flops, seconds = np.array(rows).T
    matrix = np.stack([1 / seconds, flops / seconds], axis=1)
    (fixed, slope), *_ = np.linalg.lstsq(matrix, np.ones(len(rows)), rcond=None)
    if fixed < 0 or slope <= 0:
        return 0.0, float(seconds.sum() / flops.sum())
    return float(fixed), float(slope)


def _time_start(threads: int) -> float:
    """Return the processor seconds until a job's process has imported all it needs."""
    code = "import time, bell_bench.harness.worker; print(time.process_time())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=worker_environment(threads),
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)
