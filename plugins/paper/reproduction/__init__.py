"""Reproducing a paper: runs the jobs and ablations that its claims need, then judges each claim."""

from bell_bench_paper.reproduction.planning import Scope
from bell_bench_paper.reproduction.running import reproduce
from bell_bench_paper.reproduction.verdicts import Reproduction

__all__ = ["Reproduction", "Scope", "reproduce"]
