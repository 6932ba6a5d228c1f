"""A family of algorithms: ``constant:0`` always says the first class, ``constant:1`` the second."""

import functools

import torch

from bell_bench import AlgorithmSpec, KeepingAlgorithm, UsageError


class Constant(KeepingAlgorithm):
    """Says one class, whatever it sees, and notes how many examples of each there were."""

    stable = True

    def __init__(self, context, chosen):
        super().__init__(context)
        self.chosen = chosen

    def learn(self, problem):
        scores = torch.zeros(problem.classes)
        scores[min(self.chosen, problem.classes - 1)] = 1
        self.keep(f"scores {problem.index}", scores)
        counts = torch.from_numpy(problem.train.labels).bincount(minlength=problem.classes)
        self.context.note(votes=counts.tolist())

    def predict(self, index, inputs):
        return self.kept[f"scores {index}"].repeat(len(inputs), 1)


def algorithm(name):
    """Return the spec of ``constant:NAME``."""
    if not name.isdecimal():
        raise UsageError(f"constant:{name}: name a class by its number, as in constant:0")
    return AlgorithmSpec(
        f"constant:{name}", load=f"my_family:say_{name}", summary=f"Says class {name}."
    )


def members():
    """Return a row for each member that a listing shows."""
    return [
        {"name": f"constant:{number}", "summary": f"Says class {number}.", "reason": "",
         "options": []}
        for number in range(2)
    ]  # fmt: skip


def __getattr__(name):
    """Return the class behind ``say_1``: what a member's ``load`` names."""
    verb, _, number = name.partition("_")
    if verb != "say" or not number.isdecimal():
        raise AttributeError(name)
    return functools.partial(Constant, chosen=int(number))
