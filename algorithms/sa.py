"""SA: a fresh network per problem, the yardstick of transfer."""

from __future__ import annotations

from bell_bench.modular.modular_algorithm import ModularAlgorithm


class Standalone(ModularAlgorithm):
    """Evaluates the standalone path alone; its library grows by one network per problem."""
