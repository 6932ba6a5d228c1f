"""A job's context for the tests of PICLE beside this."""

from __future__ import annotations

from bell_bench.modular import flops
from bell_bench.modular.evaluator import Charges
from tests.modular.making import FakeContext


class Counting(FakeContext):
    """A context that also counts and charges, as a job's does."""

    def count(self, function):
        return flops.count(function).flops

    def charge(self, **amounts):
        self.evaluator.charges += Charges(**amounts)
