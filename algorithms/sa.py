"""SA: a fresh network per problem, with which transfer is compared."""

from __future__ import annotations

from bell_bench import ModularAlgorithm


class Standalone(ModularAlgorithm):
    """Evaluates only the standalone path; each problem adds a network to the library."""
