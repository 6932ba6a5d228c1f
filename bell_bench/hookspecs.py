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
    """The domains of images a plugin provides, each by a function that gives its arrays; a whole
    one is in ``examples/hooks/my_domain.py``.

    Example::

        from bell_bench import DomainSpec, hookimpl

        @hookimpl
        def bell_bench_domains():
            yield DomainSpec(
                name="bars",
                load="my_domain:load",
                summary="8 bars in noise, 28x28, drawn.",
                source="https://example.org/bars",
                licence="CC0",
            )
    """


@hookspec
def bell_bench_suites() -> Iterable[SuiteSpec]:  # type: ignore[empty-body]
    """The suites of sequences a plugin provides; ``load`` names a ``bell_bench.suites.base.Suite``,
    and a whole one is in ``examples/hooks/my_suite.py``.

    Example::

        from bell_bench import SuiteSpec, hookimpl

        @hookimpl
        def bell_bench_suites():
            yield SuiteSpec("blobs", load="my_suite:SUITE", summary="Points around two centres.")
    """


@hookspec
def bell_bench_run_started(run: Mapping[str, Any]) -> None:
    """Called in the parent process before a run's first job, with those that were done before, too.

    ``run`` has ``jobs``, a list. A ``job`` has ``algorithm``, ``load``, ``provider``, ``suite``,
    ``suite_version``, ``sequence``, ``realisation``, ``realisation_seed``, ``seed``, ``scale``,
    ``data``, ``protocol``, ``options``, ``device``, ``threads`` and ``software``. One on
    imported images has their hashes by domain too, ``imported``. All is JSON-able.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_run_started(run):
            print("started", len(run["jobs"]), "jobs")
    """


@hookspec
def bell_bench_problem_solved(job: Mapping[str, Any], problem: Mapping[str, Any]) -> None:
    """Called in the parent process after a job solved one more problem of its sequence.

    ``problem`` has ``index`` (from 0), ``name``, ``accuracy`` (on its test set, in [0, 1]),
    ``event`` (always solved) and ``process`` (the job's process id). ``job`` is as above. An
    implementation may leave out arguments it does not need.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_problem_solved(job, problem):
            print(job["algorithm"], "solved", problem["name"], problem["accuracy"])
    """


@hookspec
def bell_bench_job_finished(job: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Called in the parent process when a job has ended, well or not; ``record`` is what is stored.

    ``record`` has ``schema``, ``status``, ``reason``, ``job``, ``problems``, ``matrix``,
    ``resumed`` and ``environment``, and of a job that is done ``predictions_sha256``, ``settings``
    and ``metrics``. Status is done, unsupported, failed, or why it ended. A problem there has its
    name, path, accuracies, resources and notes.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_job_finished(job, record):
            print(job["algorithm"], record["status"])
    """
