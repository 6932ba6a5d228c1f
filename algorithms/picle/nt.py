"""The search for latent transfer: Bayesian optimisation over suffixes, then longer suffixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor

from bell_bench import Activations, Architecture, Context, Evaluation, ModulePath, Problem
from bell_bench_algorithms.picle.charging import charged
from bell_bench_algorithms.picle.gp import (
    GaussianProcess,
    expected_improvement,
    make_kernel,
    upper_confidence,
)
from bell_bench_algorithms.picle.note_numbers import told
from bell_bench_algorithms.picle.options import NTOptions
from bell_bench_algorithms.picle.suffixes import (
    INPUTS,
    Functions,
    Suffix,
    fits,
    fitting_suffixes,
    read,
    stored_inputs,
)

FIRST = 2
"""How many suffixes are evaluated before the Gaussian process chooses."""


class LatentSearch:
    """Finds which earlier solution's last modules help most, then how many of them."""

    def __init__(self, context: Context, options: NTOptions) -> None:
        self.context = context
        self.options = options

    def keep(self, name: str, received: Activations) -> None:
        """Keep some training inputs of a new module, if suffixes can begin with it."""
        if received.layer == len(received.architecture) - self.options.l_min:
            origin = self.context.library[name].origin
            generator = self.context.generator("picle", "stored inputs", origin)
            inputs = received.sample(self.options.stored_inputs, generator)
            self.context.library.attach(name, INPUTS, inputs.cpu())

    def search(self, problem: Problem) -> Iterator[Evaluation]:
        length, l_min = len(problem.architecture), self.options.l_min
        suffixes = fitting_suffixes(self.context.library, problem.architecture, l_min)
        if length <= l_min or not suffixes:
            why = "no earlier solution ends in modules of these types"
            if length <= l_min:
                why = f"a network of {length} modules has none below a suffix of {l_min}"
            self.context.note(nt={"suffixes": [], "steps": [], "stopped": why})
            return
        choice = Choice(
            suffixes,
            charged(self.context, lambda: self.functions(problem.architecture, suffixes)),
            self.options,
            limit=self.options.c or length + l_min,
            generator=self.context.generator("picle", "first points", problem.index),
        )
        paths = [ModulePath.suffix(suffix.names, length) for suffix in suffixes]
        self.context.prefetch([paths[number] for number in choice.first[:FIRST]], problem)
        while (number := choice.next()) is not None:
            path = paths[number]
            evaluation = self.context.evaluate(path, problem)
            choice.observe(number, evaluation.accuracy)
            yield evaluation
        best = suffixes[choice.best]
        self.context.note(nt=choice.told())
        longer = takewhile(
            lambda count: fits(best.solution, problem.architecture, count),
            range(l_min + 1, length),
        )
        paths = [ModulePath.suffix(best.solution.names[-count:], length) for count in longer]
        self.context.prefetch(paths, problem)
        for path in paths:
            yield self.context.evaluate(path, problem)

    def functions(self, architecture: Architecture, suffixes: Sequence[Suffix]) -> Functions:
        """Return the suffixes as functions of all inputs that the library has stored for them."""
        library = self.context.library
        inputs = stored_inputs(library, architecture, self.options.l_min)
        return Functions(architecture, read(library, architecture, suffixes), inputs)


class Choice:
    """Bayesian optimisation over candidate suffixes, with notes of every step."""

    def __init__(
        self,
        suffixes: Sequence[Suffix],
        functions: Functions,
        options: NTOptions,
        *,
        limit: int,
        generator: torch.Generator,
    ) -> None:
        self.suffixes = suffixes
        self.options = options
        self.limit = limit
        self.distances = functions.distances()
        self.terms: dict[str, Tensor] = {
            kind: self.distances if kind == "l2" else functions.similarities(kind)
            for kind in options.kernel.split("_")
        }
        self.mean_distances = self.distances.sum(1) / max(len(suffixes) - 1, 1)
        self.first = self._first(generator)
        self.observed: dict[int, float] = {}
        self.steps: list[dict[str, Any]] = []
        self.stopped = ""

    def next(self) -> int | None:
        """Return the number of the suffix to evaluate next, or None to stop."""
        left = [number for number in range(len(self.suffixes)) if number not in self.observed]
        if not left:
            self.stopped = "all suffixes are evaluated"
        elif len(self.observed) >= self.limit:
            self.stopped = f"c = {self.limit} suffixes are evaluated"
        elif len(self.observed) < FIRST:
            self._note(self.first[len(self.observed)], f"{self.options.first_points} first")
            return self.first[len(self.observed)]
        else:
            return self._likeliest(left)
        return None

    def observe(self, number: int, accuracy: float) -> None:
        self.observed[number] = accuracy
        self.steps[-1]["accuracy"] = told(accuracy)

    @property
    def best(self) -> int:
        """The best suffix so far; if several are equal, the one evaluated first."""
        return max(self.observed, key=self.observed.__getitem__)

    def _likeliest(self, left: list[int]) -> int | None:
        """Return the suffix with the highest upper confidence bound, or None to stop."""
        process = GaussianProcess(
            make_kernel(self.terms), list(self.observed), list(self.observed.values())
        )
        process.fit()
        prediction = process.predict(left)
        bound = upper_confidence(prediction, self.options.beta)
        improvement = expected_improvement(prediction, self.observed[self.best])
        chosen = int(bound.argmax())
        enough = float(improvement[chosen]) >= self.options.ei_threshold
        self._note(
            left[chosen] if enough else None,
            "highest UCB",
            candidates=[
                {
                    "suffix": list(self.suffixes[number].names),
                    "mean": told(float(prediction.mean[i])),
                    "deviation": told(float(prediction.deviation[i])),
                    "ucb": told(float(bound[i])),
                    "ei": told(float(improvement[i])),
                }
                for i, number in enumerate(left)
            ],
        )
        if enough:
            return left[chosen]
        names = " ".join(self.suffixes[left[chosen]].names)
        self.stopped = (
            f"expected improvement of {names}, {float(improvement[chosen]):.2g}, "
            f"is below {self.options.ei_threshold:g}"
        )
        return None

    def _first(self, generator: torch.Generator) -> list[int]:
        if self.options.first_points == "random":
            order = torch.randperm(len(self.suffixes), generator=generator)
        else:
            order = torch.sort(self.mean_distances, stable=True).indices
        return [int(number) for number in order]

    def _note(self, number: int | None, why: str, **more: Any) -> None:
        names = None if number is None else list(self.suffixes[number].names)
        self.steps.append({"evaluated": names, "why": why, **more})

    def told(self) -> dict[str, Any]:
        return {
            "suffixes": [
                {
                    "suffix": list(suffix.names),
                    "problem": suffix.solution.problem + 1,
                    "mean_distance": told(float(mean)),
                }
                for suffix, mean in zip(self.suffixes, self.mean_distances, strict=True)
            ],
            "steps": self.steps,
            "stopped": self.stopped,
            "best": list(self.suffixes[self.best].names),
        }
