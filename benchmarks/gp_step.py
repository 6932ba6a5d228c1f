"""Measures a step of the latent search's Bayesian optimisation: seconds to fit and to predict.

There are sixty suffixes, as after sixty solved problems of BELL, of which 2 to c = 11 are observed.
Also measured: the time to compute their distances from 40 stored inputs each. One thread; medians.

    python benchmarks/gp_step.py [--solutions 60] [--kernel l2]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from statistics import median

os.environ["OMP_NUM_THREADS"] = "1"

import torch

from bell_bench.modular.architecture import Architecture
from bell_bench.modular.learner import initial
from bell_bench.suites.bell.architecture import pair_modules
from bell_bench_algorithms.picle.gp import GaussianProcess, make_kernel
from bell_bench_algorithms.picle.options import KERNELS
from bell_bench_algorithms.picle.suffixes import Functions

STORED, MOST = 40, 11
ARCHITECTURE = Architecture(pair_modules())


def functions(count: int) -> Functions:
    """Return random suffixes on random pairs of softmaxes."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.softmax(8 * torch.randn(count * STORED, 2, 8, generator=generator), dim=-1)
    modules = [
        {layer: initial(ARCHITECTURE, layer, seed, torch.float32) for layer in range(3)}
        for seed in range(count)
    ]
    return Functions(ARCHITECTURE, modules, inputs)


def timed(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return median(times[1:])  # the first warms up


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solutions", type=int, default=60)
    parser.add_argument("--kernel", choices=KERNELS, default="l2")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    count, kinds = options.solutions, options.kernel.split("_")
    made = functions(count)

    def kernel_terms() -> dict[str, torch.Tensor]:
        return {k: made.distances() if k == "l2" else made.similarities(k) for k in kinds}

    seconds = timed(lambda: (functions(count), kernel_terms()), 2)
    print(f"{count} suffixes on {count * STORED} stored inputs: {seconds:.3f} s once per problem")
    terms = kernel_terms()
    accuracies = (
        0.7 + 0.1 * torch.rand(count, generator=torch.Generator().manual_seed(1))
    ).tolist()
    for observed in sorted({2, 5, min(MOST, count - 1)}):

        def step(observed: int = observed) -> None:
            process = GaussianProcess(make_kernel(terms), range(observed), accuracies[:observed])
            process.fit()
            process.predict(range(observed, count))

        print(f"step with {observed:2} observed: {timed(step, options.repeats):.3f} s")


if __name__ == "__main__":
    main()
