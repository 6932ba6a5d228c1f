"""The hooks of bell-bench. A plugin implements any of them; each example below runs in our tests.

A plugin is a module (or object) behind an entry point of the group ``bell_bench``::

    [project.entry-points.bell_bench]
    my-plugin = "my_package.plugin"

Keep that module light: it is imported by every command, so what it declares are names and import
strings; what they name is imported only where it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pluggy

from bell_bench.specs import AlgorithmSpec, DomainSpec, SuiteSpec

PROJECT = "bell_bench"
GROUP = "bell_bench"
"""The entry-point group."""

hookspec = pluggy.HookspecMarker(PROJECT)
"""Marks a hook's declaration: those below, and none of a plugin's."""
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a plugin's function, named like the hook that it implements."""


@hookspec
def bell_bench_algorithms() -> Iterable[AlgorithmSpec]:  # type: ignore[empty-body]
    """The algorithms a plugin provides. Yields or returns specs; names are unique per distribution.

    Example::

        from bell_bench import AlgorithmSpec, Option, hookimpl

        @hookimpl
        def bell_bench_algorithms():
            yield AlgorithmSpec(
                name="my-idea",
                load="my_package.my_idea:MyIdea",
                summary="Reuses the nearest earlier solution.",
                paper="Doe, 2026",
                options={"k": Option(int, 5, "How many earlier solutions are tried.")},
            )
    """


@hookspec
def bell_bench_domains() -> Iterable[DomainSpec]:  # type: ignore[empty-body]
    """The domains of images a plugin provides.

    Example::

        from bell_bench import DomainSpec, hookimpl

        @hookimpl
        def bell_bench_domains():
            yield DomainSpec(
                name="runes",
                load="my_package.runes:load",
                summary="24 runes, 28x28, scanned.",
                source="https://example.org/runes",
                licence="CC BY 4.0",
            )
    """


@hookspec
def bell_bench_suites() -> Iterable[SuiteSpec]:  # type: ignore[empty-body]
    """The suites of sequences a plugin provides; ``load`` names a ``bell_bench.suites.base.Suite``.

    Example::

        from bell_bench import SuiteSpec, hookimpl

        @hookimpl
        def bell_bench_suites():
            yield SuiteSpec(
                name="my-suite",
                load="my_package.my_suite:SUITE",
                summary="Ten sequences of spoken digits.",
            )
    """


@hookspec
def bell_bench_run_started(run: Mapping[str, Any]) -> None:
    """Called in the parent process before a run's first job; ``run`` is JSON-able.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_run_started(run):
            print("started", dict(run))
    """


@hookspec
def bell_bench_problem_solved(job: Mapping[str, Any], problem: Mapping[str, Any]) -> None:
    """Called in the parent process after a job solved one more problem of its sequence.

    An implementation may leave out arguments it does not need.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_problem_solved(job, problem):
            print(job["algorithm"], "solved", dict(problem))
    """


@hookspec
def bell_bench_job_finished(job: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Called in the parent process when a job has ended, well or not; ``record`` is what is stored.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_job_finished(job, record):
            print(job["algorithm"], record["status"])
    """
