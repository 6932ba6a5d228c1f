"""Reproducing a paper: run the jobs and ablations that its claims need, then judge each claim."""

from bell_bench_paper.reproduction.planning import Scope
from bell_bench_paper.reproduction.running import reproduce
from bell_bench_paper.reproduction.verdicts import Reproduction

__all__ = ["Reproduction", "Scope", "reproduce"]
